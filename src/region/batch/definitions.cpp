// Job definitions: revisions under a name, counted from 1 and never given twice.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/strings.h"
#include "region/batch/jobs/spec.h"
#include "region/batch/operations.h"
#include "region/batch/shelf.h"
#include "region/batch/validate.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

std::string revisions(const Core& core, std::string_view name) {
  return fmt::format("{}definition/{}/", core.prefix, name);
}
std::string revision_key(const Core& core, std::string_view name, std::int64_t revision) {
  return fmt::format("{}{:09}", revisions(core, name), revision);
}

JsonObject body_of(const store::Document& document) {
  return base::parse_stored_json(document.body, document.key).as_object();
}

std::optional<store::Document> newest(const Core& core, std::string_view name, bool active) {
  store::ListQuery query{.prefix = revisions(core, name), .limit = 1};
  query.order = store::ListQuery::Order::descending;
  if (active) query.equals = {{"status", "ACTIVE"}};
  auto page = core.parts.store.list(query);
  if (page.documents.empty()) return std::nullopt;
  return std::move(page.documents.front());
}

struct Reference {
  std::string name;
  std::optional<std::int64_t> revision;
};
Reference parse_reference(const std::string& text) {
  const std::string tail = name_of(text);
  const auto colon = tail.find(':');
  Reference reference{.name = tail.substr(0, colon), .revision = {}};
  if (colon != std::string::npos) {
    reference.revision = base::to_int(tail.substr(colon + 1));
    if (!reference.revision) refuse("'" + text + "' is no job definition: name:revision");
  }
  return reference;
}

store::Document get_revision(const Core& core, const std::string& reference) {
  const Reference of = parse_reference(reference);
  auto document = of.revision ? core.parts.store.find(revision_key(core, of.name, *of.revision))
                              : newest(core, of.name, true);
  if (!document)
    refuse("there is no job definition '" + reference + "' in " + core.settings.region);
  return std::move(*document);
}

}  // namespace

JsonObject get_definition(const Core& core, const std::string& reference) {
  return body_of(get_revision(core, reference));
}

Json register_job_definition(Core& core, const JsonObject& input) {
  check_definition(input);
  const std::string name = base::string_or(input, "jobDefinitionName");
  JsonObject definition = input;
  if (Json* container = definition.if_contains("containerProperties"))
    add_empty_lists(container->as_object());
  definition["status"] = "ACTIVE";
  if (!definition.contains("parameters")) definition["parameters"] = JsonObject{};
  definition["containerOrchestrationType"] = "ECS";
  for (int attempt = 0; attempt < 64; ++attempt) {
    const auto last = newest(core, name, false);
    const std::int64_t revision = last ? base::int_or(body_of(*last), "revision", 0) + 1 : 1;
    const std::string arn = core.arn("job-definition", fmt::format("{}:{}", name, revision));
    definition["revision"] = revision;
    definition["jobDefinitionArn"] = arn;
    if (core.parts.store.commit({store::put(revision_key(core, name, revision),
                                            base::to_text(definition), {{"status", "ACTIVE"}}, 0)}))
      return JsonObject{
          {"jobDefinitionName", name}, {"jobDefinitionArn", arn}, {"revision", revision}};
  }
  throw base::Error(base::Code::conflict, "too many register '" + name + "' at once",
                    base::Retry::yes);
}

Json describe_job_definitions(Core& core, const JsonObject& input) {
  JsonArray found;
  JsonObject answer;
  const std::string status = base::string_or(input, "status");
  const Json* names = base::find(input, "jobDefinitions");
  if (names != nullptr && !names->as_array().empty()) {
    for (const Json& each : names->as_array()) {
      const Reference of = parse_reference(std::string(base::view(each.as_string())));
      store::ListQuery query{.prefix = revisions(core, of.name), .limit = 1000};
      if (of.revision) query.prefix = revision_key(core, of.name, *of.revision);
      for (const auto& document : core.parts.store.list(query).documents) {
        JsonObject body = body_of(document);
        if (status.empty() || base::string_or(body, "status") == status)
          found.push_back(std::move(body));
      }
    }
  } else {
    store::ListQuery query{.prefix = core.prefix + "definition/"};
    const std::string name = base::string_or(input, "jobDefinitionName");
    if (!name.empty()) query.prefix = revisions(core, name);
    if (!status.empty()) query.equals = {{"status", status}};
    query.limit = static_cast<std::size_t>(
        std::clamp<std::int64_t>(base::int_or(input, "maxResults", 100), 1, 100));
    query.token = base::string_or(input, "nextToken");
    store::Page page = core.parts.store.list(query);
    for (const auto& document : page.documents) found.push_back(body_of(document));
    if (!page.next_token.empty()) answer["nextToken"] = page.next_token;
  }
  answer["jobDefinitions"] = std::move(found);
  return answer;
}

Json deregister_job_definition(Core& core, const JsonObject& input) {
  const std::string reference = base::string_or(input, "jobDefinition");
  if (!parse_reference(reference).revision)
    refuse("'" + reference + "': say which revision, as name:revision or by its ARN");
  for (int attempt = 0; attempt < 64; ++attempt) {
    const store::Document document = get_revision(core, reference);
    JsonObject body = body_of(document);
    body["status"] = "INACTIVE";
    if (core.parts.store.commit({store::put(document.key, base::to_text(body),
                                            {{"status", "INACTIVE"}}, document.revision)}))
      return JsonObject{};
  }
  throw base::Error(base::Code::conflict, "the job definition is too busy", base::Retry::yes);
}

}  // namespace meridian::region::batch
