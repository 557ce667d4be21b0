// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "kube/labels.h"
#include "kube/object.h"

namespace meridian::kubeserver::objects {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using kinds::NameRule;
using kinds::Served;
using kube::Cause;

constexpr std::size_t kMostAnnotationBytes = 256 * 1024;
constexpr std::size_t kMostGeneratedName = 63;
constexpr std::size_t kSuffix = 5;

enum class Type { text, number, texts_by_name, texts, owners, objects };
constexpr std::array<std::pair<std::string_view, Type>, 17> kMembers{{
    {"name", Type::text},
    {"generateName", Type::text},
    {"namespace", Type::text},
    {"selfLink", Type::text},
    {"uid", Type::text},
    {"resourceVersion", Type::text},
    {"generation", Type::number},
    {"creationTimestamp", Type::text},
    {"deletionTimestamp", Type::text},
    {"deletionGracePeriodSeconds", Type::number},
    {"labels", Type::texts_by_name},
    {"annotations", Type::texts_by_name},
    {"ownerReferences", Type::owners},
    {"finalizers", Type::texts},
    {"managedFields", Type::objects},
    {"clusterName", Type::text},
    {"initializers", Type::objects},
}};

[[noreturn]] void wrong_type(std::string_view path, std::string_view wanted, const Json& value) {
  throw kube::bad_request(fmt::format("the object cannot be decoded: {} must be {}, not {}", path,
                                      wanted,
                                      std::string_view(boost::json::to_string(value.kind()))));
}

bool all_texts(const JsonArray& list) {
  return std::ranges::all_of(list, [](const Json& value) { return value.is_string(); });
}

void check_map(std::string_view path, const Json& value) {
  if (!value.is_object()) wrong_type(path, "an object", value);
  for (const auto& [key, text] : value.get_object()) {
    if (!text.is_string()) {
      wrong_type(fmt::format("{}[{}]", path, std::string_view(key)), "a string", text);
    }
  }
}

void check_owner(std::string_view path, const Json& owner) {
  if (!owner.is_object()) wrong_type(path, "an object", owner);
  for (const auto& [name, value] : owner.get_object()) {
    const bool flag = name == "controller" || name == "blockOwnerDeletion";
    if (flag ? value.is_bool() || value.is_null() : value.is_string()) continue;
    wrong_type(fmt::format("{}.{}", path, std::string_view(name)), flag ? "a boolean" : "a string",
               value);
  }
}

void check_type(const std::string& path, Type type, const Json& value) {
  switch (type) {
    case Type::text:
      if (!value.is_string()) wrong_type(path, "a string", value);
      return;
    case Type::number:
      if (!value.is_int64() && !value.is_uint64()) wrong_type(path, "an integer", value);
      return;
    case Type::texts_by_name: check_map(path, value); return;
    case Type::texts:
      if (!value.is_array() || !all_texts(value.get_array()))
        wrong_type(path, "a list of strings", value);
      return;
    case Type::owners:
      if (!value.is_array()) wrong_type(path, "a list", value);
      for (std::size_t i = 0; i < value.get_array().size(); ++i) {
        check_owner(fmt::format("{}[{}]", path, i), value.get_array()[i]);
      }
      return;
    case Type::objects:
      if (!value.is_array()) wrong_type(path, "a list", value);
      return;
  }
}

bool is_empty(const Json& value) {
  return value.is_null() || (value.is_array() && value.get_array().empty()) ||
         (value.is_object() && value.get_object().empty()) ||
         (value.is_string() && value.get_string().empty());
}

void move_member(JsonObject& to, const JsonObject& from, std::string_view name) {
  if (const auto found = from.find(name); found != from.end()) {
    to[name] = found->value();
  } else {
    to.stable_erase(name);
  }
}

// Without vowels and look-alikes, so that no words come out.
std::string random_suffix(base::Random& random) {
  constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (std::size_t i = 0; i < kSuffix; ++i) text += alphabet[random.below(alphabet.size())];
  return text;
}

std::optional<std::string> why_not_name(NameRule rule, std::string_view name) {
  switch (rule) {
    case NameRule::label: return kube::why_not_dns_label(name);
    case NameRule::path_segment: return kube::why_not_path_segment(name);
    case NameRule::subdomain: return kube::why_not_subdomain(name);
  }
  return std::nullopt;
}

void add_invalid(std::vector<Cause>& causes, std::string field, std::string_view value,
                 std::string_view why) {
  causes.push_back({std::move(field), "FieldValueInvalid",
                    fmt::format("Invalid value: \"{}\": {}", value, why)});
}

void check_name(const Served& served, const Json& object, std::vector<Cause>& causes) {
  const std::string name = kube::name_of(object);
  if (name.empty()) {
    causes.push_back({"metadata.name", "FieldValueRequired",
                      "Required value: name or generateName is required"});
    return;
  }
  const NameRule rule = served.kind == nullptr ? NameRule::subdomain : served.kind->names;
  if (const auto why = why_not_name(rule, name)) add_invalid(causes, "metadata.name", name, *why);
}

void check_labels(const Json& metadata, std::vector<Cause>& causes) {
  const Json* labels = base::find(metadata, "labels");
  if (labels == nullptr) return;
  for (const auto& [key, value] : labels->as_object()) {
    if (const auto why = kube::why_not_label_key(key)) {
      add_invalid(causes, "metadata.labels", key, *why);
    }
    const std::string_view text = base::view(value.as_string());
    if (const auto why = kube::why_not_label_value(text)) {
      add_invalid(causes, "metadata.labels", text, *why);
    }
  }
}

void check_annotations(const Json& metadata, std::vector<Cause>& causes) {
  const Json* annotations = base::find(metadata, "annotations");
  if (annotations == nullptr) return;
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations->as_object()) {
    bytes += key.size() + value.as_string().size();
    std::string lower(key);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (const auto why = kube::why_not_label_key(lower)) {
      add_invalid(causes, "metadata.annotations", key, *why);
    }
  }
  if (bytes <= kMostAnnotationBytes) return;
  causes.push_back({"metadata.annotations", "FieldValueTooLong",
                    fmt::format("Too long: may not be more than {} bytes", kMostAnnotationBytes)});
}

void check_owners(const Json& object, std::vector<Cause>& causes) {
  const Json* list = base::find_path(object, "metadata.ownerReferences");
  if (list == nullptr) return;
  std::size_t at = 0, controllers = 0;
  for (const Json& owner : list->as_array()) {
    const std::string path = fmt::format("metadata.ownerReferences[{}]", at++);
    for (const std::string_view name : {"apiVersion", "kind", "name", "uid"}) {
      if (!base::string_or(owner, name).empty()) continue;
      add_invalid(causes, fmt::format("{}.{}", path, name), "",
                  fmt::format("{} must not be empty", name));
    }
    if (base::bool_or(owner, "controller", false)) ++controllers;
  }
  if (controllers > 1) {
    causes.push_back({"metadata.ownerReferences", "FieldValueInvalid",
                      "Invalid value: only one reference can have controller set to true"});
  }
}

void check_finalizers(const Json& object, const Json* old, std::vector<Cause>& causes) {
  const std::vector<std::string> finalizers = kube::finalizers_of(object);
  std::vector<std::string> fresh;
  std::vector<std::string> before;
  if (old != nullptr) before = kube::finalizers_of(*old);
  for (const std::string& finalizer : finalizers) {
    if (const auto why = kube::why_not_label_key(finalizer)) {
      add_invalid(causes, "metadata.finalizers", finalizer, *why);
    }
    if (std::ranges::find(before, finalizer) == before.end()) fresh.push_back(finalizer);
  }
  if (old == nullptr || !kube::is_deleting(*old) || fresh.empty()) return;
  causes.push_back({"metadata.finalizers", "FieldValueForbidden",
                    fmt::format("Forbidden: no new finalizers can be added if the object is being "
                                "deleted, found new finalizers [\"{}\"]",
                                fmt::join(fresh, "\" \""))});
}

}  // namespace

std::vector<std::string> clean_metadata(Json& object) {
  std::vector<std::string> unknown;
  JsonObject kept;
  if (const Json* given = base::find(object, "metadata"); given != nullptr && !given->is_object()) {
    wrong_type("metadata", "an object", *given);
  }
  for (const auto& [name, value] : kube::metadata_of(object)) {
    const std::string path = "metadata." + std::string(name);
    const auto member = std::ranges::find(kMembers, std::string_view(name),
                                          [](const auto& row) { return row.first; });
    if (member == kMembers.end()) {
      unknown.push_back(path);
      continue;
    }
    if (is_empty(value)) continue;
    check_type(path, member->second, value);
    kept[name] = value;
  }
  kube::metadata_of(object) = std::move(kept);
  return unknown;
}

void begin_metadata(const Served& served, Json& object, base::Timestamp now, base::Random& random) {
  JsonObject& metadata = kube::metadata_of(object);
  for (const std::string_view name :
       {"selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion",
        "generation", "clusterName", "initializers"}) {
    metadata.stable_erase(name);
  }
  const std::string prefix = base::string_or(Json(metadata), "generateName");
  if (!metadata.contains("name") && !prefix.empty()) {
    metadata["name"] = prefix.substr(0, kMostGeneratedName - kSuffix) + random_suffix(random);
  }
  metadata["uid"] = random.uuid();
  metadata["creationTimestamp"] = kube::time_text(now);
  if (served.counts_generations()) metadata["generation"] = 1;
}

void keep_metadata(Json& object, const Json& old) {
  JsonObject& metadata = kube::metadata_of(object);
  const Json* before = base::find(old, "metadata");
  for (const std::string_view name :
       {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
        "deletionGracePeriodSeconds", "generation", "resourceVersion", "generateName"}) {
    move_member(metadata, before->as_object(), name);
  }
  for (const std::string_view name : {"selfLink", "clusterName", "initializers"}) {
    metadata.stable_erase(name);
  }
}

void check_metadata(const Served& served, const Json& object, const Json* old,
                    std::vector<Cause>& causes) {
  const Json* metadata = base::find(object, "metadata");
  if (old == nullptr) check_name(served, object, causes);
  check_labels(*metadata, causes);
  check_annotations(*metadata, causes);
  check_owners(object, causes);
  check_finalizers(object, old, causes);
}

}  // namespace meridian::kubeserver::objects
