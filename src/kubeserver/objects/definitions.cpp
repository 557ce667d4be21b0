// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/definitions.h"

#include <fmt/format.h>

#include <algorithm>

#include "kubeserver/objects/conditions.h"

namespace meridian::kubeserver::objects {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using kinds::Registry;
using kinds::Served;

std::vector<std::string> strings_of(const Json& object, std::string_view member) {
  std::vector<std::string> out;
  const Json* list = base::find(object, member);
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& item : list->get_array()) {
    if (item.is_string()) out.emplace_back(base::view(item.get_string()));
  }
  return out;
}

// Plural, singular and short names share one space; kinds and list kinds another.
struct Names {
  std::vector<std::string> words, kinds;
};

Names names_of(const Json& names) {
  Names out{strings_of(names, "shortNames"), {}};
  out.words.push_back(base::string_or(names, "plural"));
  out.words.push_back(base::string_or(names, "singular"));
  out.kinds = {base::string_or(names, "kind"), base::string_or(names, "listKind")};
  return out;
}

Names names_of(const kube::Resource& resource) {
  Names out{resource.short_names, {resource.kind, resource.list_kind}};
  out.words.push_back(resource.id.plural);
  out.words.push_back(resource.singular);
  return out;
}

std::string find_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto found = std::ranges::find_if(a, [&](const std::string& word) {
    return !word.empty() && std::ranges::find(b, word) != b.end();
  });
  return found == a.end() ? "" : *found;
}

// The name that another definition of the group has already; "" when there is none.
std::string find_clash(const Json& definition, const Registry& registry) {
  const Json* spec = base::find(definition, "spec");
  const Json* names = spec == nullptr ? nullptr : base::find(*spec, "names");
  if (names == nullptr) return "";
  const Names wanted = names_of(*names);
  for (const kinds::ServedPtr& other : registry.all()) {
    if (other->group() != base::string_or(*spec, "group")) continue;
    if (other->definition == kube::name_of(definition)) continue;
    const Names taken = names_of(other->resource);
    for (const std::string& clash :
         {find_common(wanted.words, taken.words), find_common(wanted.kinds, taken.kinds)}) {
      if (!clash.empty()) return clash;
    }
  }
  return "";
}

JsonArray stored_versions(const Json& definition) {
  JsonArray stored;
  if (const Json* before = base::find_path(definition, "status.storedVersions")) {
    if (before->is_array()) stored = before->get_array();
  }
  const Json* versions = base::find_path(definition, "spec.versions");
  if (versions == nullptr || !versions->is_array()) return stored;
  for (const Json& version : versions->get_array()) {
    const Json name(base::string_or(version, "name"));
    if (!base::bool_or(version, "storage", false)) continue;
    if (std::ranges::find(stored, name) == stored.end()) stored.push_back(name);
  }
  return stored;
}

}  // namespace

bool is_definition(const Served& served) {
  return served.plural() == "customresourcedefinitions" && served.group() == "apiextensions.k8s.io";
}

void accept_definition(Json& definition, const Registry& registry, base::Timestamp now) {
  const std::string clash = find_clash(definition, registry);
  const JsonArray stored = stored_versions(definition);
  const Json* names = base::find_path(definition, "spec.names");
  const Json accepted = names == nullptr ? Json(JsonObject()) : *names;
  if (clash.empty()) {
    set_condition(definition, {"NamesAccepted", "True", "NoConflicts", "no conflicts found"}, now);
    set_condition(
        definition,
        {"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"},
        now);
  } else {
    const std::string why = fmt::format("\"{}\" is already in use", clash);
    set_condition(definition, {"NamesAccepted", "False", "NamesConflict", why}, now);
    set_condition(definition, {"Established", "False", "NotAccepted", "not all names are accepted"},
                  now);
  }
  JsonObject& status = definition.as_object()["status"].as_object();
  if (clash.empty()) status["acceptedNames"] = accepted;
  if (!status.contains("acceptedNames")) {
    status["acceptedNames"] = JsonObject{{"kind", ""}, {"plural", ""}};
  }
  status["storedVersions"] = stored;
}

void set_terminating(Json& definition, std::string_view message, base::Timestamp now) {
  set_condition(definition,
                {"Terminating", "True", "InstanceDeletionInProgress", std::string(message)}, now);
}

}  // namespace meridian::kubeserver::objects
