// Tags of whatever has an ARN here.
//
// SPDX-License-Identifier: Apache-2.0
#include "region/batch/jobs/spec.h"
#include "region/batch/operations.h"
#include "region/batch/shelf.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::size_t kMostTags = 50;

// The key of the document that an ARN's tags are in.
std::string key_of(const Core& core, const std::string& arn) {
  const std::string name = name_of(arn);
  const auto is = [&](std::string_view type) {
    return arn.starts_with(core.arn(std::string(type), ""));
  };
  for (const Shelf* shelf :
       {&kQueues, &kEnvironments, &kServiceEnvironments, &kPolicies, &kConsumables})
    if (is(shelf->type)) return core.prefix + std::string(shelf->key) + name;
  if (is("job")) return spec_key(core.prefix, name.substr(0, name.find(':')));
  if (is("job-definition")) {
    const JsonObject definition = get_definition(core, arn);
    std::string revision = std::to_string(base::int_or(definition, "revision", 0));
    return core.prefix + "definition/" + base::string_or(definition, "jobDefinitionName") + "/" +
           std::string(9 - std::min<std::size_t>(9, revision.size()), '0') + revision;
  }
  refuse("'" + arn + "' is no resource of " + core.settings.region);
}

store::Document get_document(const Core& core, const std::string& arn) {
  if (auto document = core.parts.store.find(key_of(core, arn))) return std::move(*document);
  refuse("there is no resource " + arn);
}

template <class Change>
void change_tags(Core& core, const JsonObject& input, Change change) {
  const std::string arn = base::string_or(input, "resourceArn");
  for (int attempt = 0; attempt < 64; ++attempt) {
    const store::Document document = get_document(core, arn);
    JsonObject body = base::parse_stored_json(document.body, document.key).as_object();
    if (!body.contains("tags")) body["tags"] = JsonObject{};
    change(body["tags"].as_object());
    if (body["tags"].as_object().size() > kMostTags) refuse("a resource has at most 50 tags");
    if (core.parts.store.commit(
            {store::put(document.key, base::to_text(body), document.index, document.revision)}))
      return;
  }
  throw base::Error(base::Code::conflict, arn + " is too busy", base::Retry::yes);
}

}  // namespace

Json list_tags_for_resource(Core& core, const JsonObject& input) {
  const store::Document document = get_document(core, base::string_or(input, "resourceArn"));
  const Json body = base::parse_stored_json(document.body, document.key);
  const Json* tags = base::find(body, "tags");
  return JsonObject{{"tags", tags ? *tags : Json(JsonObject{})}};
}

Json tag_resource(Core& core, const JsonObject& input) {
  change_tags(core, input, [&](JsonObject& tags) {
    for (const auto& [key, value] : input.at("tags").as_object()) tags[key] = value;
  });
  return JsonObject{};
}

Json untag_resource(Core& core, const JsonObject& input) {
  change_tags(core, input, [&](JsonObject& tags) {
    for (const Json& key : input.at("tagKeys").as_array()) tags.erase(base::view(key.as_string()));
  });
  return JsonObject{};
}

}  // namespace meridian::region::batch
