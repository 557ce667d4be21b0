// SPDX-License-Identifier: Apache-2.0
#include "region/batch/shelf.h"

#include <algorithm>
#include <cctype>

#include "aws/service.h"
#include "region/batch/jobs/spec.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

std::string document_key(const Core& core, const Shelf& shelf, std::string_view name_or_arn) {
  return core.prefix + std::string(shelf.key) + name_of(name_or_arn);
}

JsonObject body_of(const store::Document& document) {
  return base::parse_stored_json(document.body, document.key).as_object();
}

}  // namespace

void refuse(const std::string& message) { throw aws::ApiError("ClientException", message); }

void check_name(std::string_view what, std::string_view name) {
  const auto is_good = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  };
  if (!name.empty() && name.size() <= 128 && std::ranges::all_of(name, is_good) &&
      std::isalnum(static_cast<unsigned char>(name[0])))
    return;
  refuse(std::string(what) + " '" + std::string(name) + "' (" + std::to_string(name.size()) +
         " characters): it must have 1 to 128 letters, digits, hyphens and underscores, the first "
         "a letter or digit");
}

std::optional<JsonObject> find_item(const Core& core, const Shelf& shelf,
                                    std::string_view name_or_arn) {
  const auto document = core.parts.store.find(document_key(core, shelf, name_or_arn));
  if (!document) return std::nullopt;
  return body_of(*document);
}

JsonObject get_item(const Core& core, const Shelf& shelf, std::string_view name_or_arn) {
  if (auto found = find_item(core, shelf, name_or_arn)) return std::move(*found);
  refuse("there is no " + std::string(shelf.type) + " '" + std::string(name_or_arn) + "' in " +
         core.settings.region);
}

JsonObject create_item(Core& core, const Shelf& shelf, const std::string& name, JsonObject item) {
  check_name(shelf.name_member, name);
  item[shelf.name_member] = name;
  item[shelf.arn_member] = core.arn(std::string(shelf.type), name);
  if (!core.parts.store.commit(
          {store::put(document_key(core, shelf, name), base::to_text(item), {}, 0)}))
    refuse("Object already exists: there is a " + std::string(shelf.type) + " '" + name + "'");
  return item;
}

void change_item(Core& core, const Shelf& shelf, std::string_view name_or_arn,
                 const std::function<void(JsonObject&)>& change) {
  for (int attempt = 0; attempt < 64; ++attempt) {
    const auto document = core.parts.store.find(document_key(core, shelf, name_or_arn));
    if (!document) (void)get_item(core, shelf, name_or_arn);
    JsonObject item = body_of(*document);
    change(item);
    if (core.parts.store.commit(
            {store::put(document->key, base::to_text(item), {}, document->revision)}))
      return;
  }
  throw base::Error(base::Code::conflict, "too many change " + std::string(name_or_arn),
                    base::Retry::yes);
}

void remove_item(Core& core, const Shelf& shelf, std::string_view name_or_arn) {
  (void)core.parts.store.commit({store::remove(document_key(core, shelf, name_or_arn))});
}

std::vector<JsonObject> all_items(const Core& core, const Shelf& shelf) {
  std::vector<JsonObject> items;
  store::ListQuery query{.prefix = core.prefix + std::string(shelf.key), .limit = 1000};
  do {
    store::Page page = core.parts.store.list(query);
    for (const auto& document : page.documents) items.push_back(body_of(document));
    query.token = page.next_token;
  } while (!query.token.empty());
  return items;
}

Json describe_items(const Core& core, const Shelf& shelf, const JsonObject& input,
                    std::string_view names_member, std::string_view answer_member) {
  JsonObject answer;
  JsonArray items;
  const Json* names = base::find(input, names_member);
  if (names != nullptr && !names->as_array().empty()) {
    for (const Json& each : names->as_array())
      if (auto item = find_item(core, shelf, base::view(each.as_string())))
        items.push_back(std::move(*item));
  } else {
    store::ListQuery query{.prefix = core.prefix + std::string(shelf.key)};
    query.limit = static_cast<std::size_t>(
        std::clamp<std::int64_t>(base::int_or(input, "maxResults", 100), 1, 100));
    query.token = base::string_or(input, "nextToken");
    store::Page page = core.parts.store.list(query);
    for (const auto& document : page.documents) items.push_back(body_of(document));
    if (!page.next_token.empty()) answer["nextToken"] = page.next_token;
  }
  answer[answer_member] = std::move(items);
  return answer;
}

}  // namespace meridian::region::batch
