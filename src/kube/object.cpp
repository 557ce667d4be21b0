// SPDX-License-Identifier: Apache-2.0
#include "kube/object.h"

#include <algorithm>

#include "base/strings.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

std::string metadata_string(const Json& object, std::string_view key) {
  const Json* metadata = base::find(object, "metadata");
  return metadata == nullptr ? "" : base::string_or(*metadata, key);
}

std::optional<std::string> metadata_entry(const Json& object, std::string_view map,
                                          std::string_view key) {
  const Json* metadata = base::find(object, "metadata");
  const Json* entries = metadata == nullptr ? nullptr : base::find(*metadata, map);
  return entries == nullptr ? std::nullopt : base::find_string(*entries, key);
}

const JsonArray* metadata_list(const Json& object, std::string_view key) {
  const Json* metadata = base::find(object, "metadata");
  const Json* list = metadata == nullptr ? nullptr : base::find(*metadata, key);
  return list != nullptr && list->is_array() ? &list->get_array() : nullptr;
}

JsonObject& object_member(JsonObject& parent, std::string_view key) {
  Json& member = parent[key];
  return member.is_object() ? member.get_object() : member.emplace_object();
}

JsonArray& array_member(JsonObject& parent, std::string_view key) {
  Json& member = parent[key];
  return member.is_array() ? member.get_array() : member.emplace_array();
}

bool is_text(const Json& value, std::string_view text) {
  return value.is_string() && base::view(value.get_string()) == text;
}

void set_metadata_entry(Json& object, std::string_view map, std::string_view key,
                        std::string_view value) {
  object_member(metadata_of(object), map)[key] = value;
}

OwnerReference read_owner(const Json& reference) {
  using Controller = OwnerReference::Controller;
  using Block = OwnerReference::BlockDeletion;
  return {.api_version = base::string_or(reference, "apiVersion"),
          .kind = base::string_or(reference, "kind"),
          .name = base::string_or(reference, "name"),
          .uid = base::string_or(reference, "uid"),
          .controller =
              base::bool_or(reference, "controller", false) ? Controller::yes : Controller::no,
          .block_deletion =
              base::bool_or(reference, "blockOwnerDeletion", false) ? Block::yes : Block::no};
}

}  // namespace

std::string GroupVersion::text() const { return group.empty() ? version : group + "/" + version; }

std::optional<GroupVersion> parse_group_version(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) {
    if (api_version.empty()) return std::nullopt;
    return GroupVersion{"", std::string(api_version)};
  }
  const std::string_view group = api_version.substr(0, slash);
  const std::string_view version = api_version.substr(slash + 1);
  if (group.empty() || version.empty() || version.find('/') != std::string_view::npos) {
    return std::nullopt;
  }
  return GroupVersion{std::string(group), std::string(version)};
}

std::string ResourceId::path(std::string_view ns, std::string_view name,
                             std::string_view subresource) const {
  std::string out = group.empty() ? "/api" : "/apis/" + base::percent_encode(group);
  const auto add = [&](std::string_view piece) { out += "/" + base::percent_encode(piece); };
  add(version);
  if (!ns.empty()) {
    add("namespaces");
    add(ns);
  }
  add(plural);
  if (!name.empty()) add(name);
  if (!subresource.empty()) add(subresource);
  return out;
}

std::string ObjectKey::text() const { return ns.empty() ? name : ns + "/" + name; }

ObjectKey key_of(const Json& object) { return {namespace_of(object), name_of(object)}; }
std::string kind_of(const Json& object) { return base::string_or(object, "kind"); }
std::string api_version_of(const Json& object) { return base::string_or(object, "apiVersion"); }
std::string name_of(const Json& object) { return metadata_string(object, "name"); }
std::string namespace_of(const Json& object) { return metadata_string(object, "namespace"); }
std::string uid_of(const Json& object) { return metadata_string(object, "uid"); }

std::string resource_version_of(const Json& object) {
  return metadata_string(object, "resourceVersion");
}

std::int64_t generation_of(const Json& object) {
  const Json* metadata = base::find(object, "metadata");
  return metadata == nullptr ? 0 : base::int_or(*metadata, "generation", 0);
}

bool is_deleting(const Json& object) {
  return !metadata_string(object, "deletionTimestamp").empty();
}

std::optional<std::string> find_label(const Json& object, std::string_view key) {
  return metadata_entry(object, "labels", key);
}

std::optional<std::string> find_annotation(const Json& object, std::string_view key) {
  return metadata_entry(object, "annotations", key);
}

std::vector<std::string> finalizers_of(const Json& object) {
  std::vector<std::string> out;
  const JsonArray* list = metadata_list(object, "finalizers");
  if (list == nullptr) return out;
  for (const Json& item : *list) {
    if (item.is_string()) out.emplace_back(base::view(item.get_string()));
  }
  return out;
}

base::JsonObject status_of(const Json& object) {
  const Json* status = base::find(object, "status");
  return status != nullptr && status->is_object() ? status->get_object() : base::JsonObject{};
}

std::vector<OwnerReference> owners_of(const Json& object) {
  std::vector<OwnerReference> out;
  const JsonArray* list = metadata_list(object, "ownerReferences");
  if (list == nullptr) return out;
  for (const Json& item : *list) out.push_back(read_owner(item));
  return out;
}

JsonObject& metadata_of(Json& object) {
  JsonObject& root = object.is_object() ? object.get_object() : object.emplace_object();
  return object_member(root, "metadata");
}

void set_label(Json& object, std::string_view key, std::string_view value) {
  set_metadata_entry(object, "labels", key, value);
}

void set_annotation(Json& object, std::string_view key, std::string_view value) {
  set_metadata_entry(object, "annotations", key, value);
}

bool add_finalizer(Json& object, std::string_view finalizer) {
  JsonArray& list = array_member(metadata_of(object), "finalizers");
  const auto same = [&](const Json& item) { return is_text(item, finalizer); };
  if (std::any_of(list.begin(), list.end(), same)) return false;
  list.emplace_back(finalizer);
  return true;
}

bool remove_finalizer(Json& object, std::string_view finalizer) {
  if (metadata_list(object, "finalizers") == nullptr) return false;
  JsonObject& metadata = metadata_of(object);
  JsonArray& list = metadata["finalizers"].get_array();
  const auto same = [&](const Json& item) { return is_text(item, finalizer); };
  const auto end = std::remove_if(list.begin(), list.end(), same);
  if (end == list.end()) return false;
  list.erase(end, list.end());
  if (list.empty()) metadata.stable_erase("finalizers");
  return true;
}

void add_owner(Json& object, const OwnerReference& owner) {
  JsonObject reference{{"apiVersion", owner.api_version},
                       {"kind", owner.kind},
                       {"name", owner.name},
                       {"uid", owner.uid}};
  if (owner.controller == OwnerReference::Controller::yes) reference["controller"] = true;
  if (owner.block_deletion == OwnerReference::BlockDeletion::yes) {
    reference["blockOwnerDeletion"] = true;
  }
  JsonArray& list = array_member(metadata_of(object), "ownerReferences");
  for (Json& item : list) {
    if (base::string_or(item, "uid") != owner.uid) continue;
    item = std::move(reference);
    return;
  }
  list.emplace_back(std::move(reference));
}

std::string time_text(base::Timestamp time) { return base::format_iso8601_seconds(time); }

std::string micro_time_text(base::Timestamp time) {
  std::string text = base::format_iso8601(time);
  text.insert(text.size() - 1, "000");  // milliseconds are all that we keep
  return text;
}

std::optional<base::Timestamp> parse_time(std::string_view text) {
  // RFC 3339 has no shorter form.
  if (text.size() < 20 || text[4] != '-' || text[10] != 'T') return std::nullopt;
  const bool zoned = text.ends_with('Z') || text.find_first_of("+-", 19) != std::string_view::npos;
  if (!zoned) return std::nullopt;
  const auto time = base::parse_iso8601(text);
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace meridian::kube
