// Namespaces and CustomResourceDefinitions: what needs no look at other objects.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/strings.h"
#include "kube/object.h"
#include "kubeserver/kinds/builtin.h"
#include "kubeserver/kinds/cells.h"

namespace meridian::kubeserver::kinds {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using Causes = std::vector<kube::Cause>;

JsonObject& member(JsonObject& object, std::string_view name) {
  Json& value = object[name];
  return value.is_object() ? value.get_object() : value.emplace_object();
}

std::string text_at(const Json& object, std::string_view path) {
  const Json* value = base::find_path(object, path);
  return value != nullptr && value->is_string() ? std::string(base::view(value->get_string())) : "";
}

// What must be done before a namespace goes is ours to say.
void prepare_namespace(Json& object, const Json* old) {
  kube::set_label(object, "kubernetes.io/metadata.name", kube::name_of(object));
  const Json* finalizers = old == nullptr ? nullptr : base::find_path(*old, "spec.finalizers");
  if (old == nullptr) {
    member(object.as_object(), "spec")["finalizers"] = JsonArray{"kubernetes"};
    member(object.as_object(), "status")["phase"] = "Active";
  } else if (finalizers != nullptr) {
    member(object.as_object(), "spec")["finalizers"] = *finalizers;
  }
}

JsonArray namespace_cells(const Json& object, base::Timestamp now) {
  return {kube::name_of(object), text_at(object, "status.phase"), age_cell(object, now)};
}

void prepare_definition(Json& object, const Json* old) {
  JsonObject& spec = member(object.as_object(), "spec");
  JsonObject& names = member(spec, "names");
  const std::string kind = base::string_or(spec["names"], "kind");
  if (base::string_or(spec["names"], "singular").empty()) names["singular"] = base::to_lower(kind);
  if (base::string_or(spec["names"], "listKind").empty()) names["listKind"] = kind + "List";
  JsonObject& conversion = member(spec, "conversion");
  if (!conversion.contains("strategy")) conversion["strategy"] = "None";
  if (base::bool_or(Json(spec), "preserveUnknownFields", false) == false)
    spec.erase("preserveUnknownFields");
  if (old == nullptr) kube::add_finalizer(object, "customresourcecleanup.apiextensions.k8s.io");
}

void check_fixed(const Json& object, const Json& old, std::string_view path, Causes& causes) {
  const std::string before = text_at(old, path), after = text_at(object, path);
  if (before == after) return;
  causes.push_back({std::string(path), "FieldValueInvalid",
                    fmt::format("Invalid value: \"{}\": field is immutable", after)});
}

bool has_version(const Json& object, std::string_view name) {
  const Json* versions = base::find_path(object, "spec.versions");
  if (versions == nullptr || !versions->is_array()) return false;
  for (const Json& version : versions->get_array()) {
    if (base::string_or(version, "name") == name) return true;
  }
  return false;
}

void check_stored_versions(const Json& object, Causes& causes) {
  const Json* stored = base::find_path(object, "status.storedVersions");
  if (stored == nullptr || !stored->is_array()) return;
  std::size_t at = 0;
  for (const Json& version : stored->get_array()) {
    const std::string name =
        version.is_string() ? std::string(base::view(version.get_string())) : "";
    if (!has_version(object, name)) {
      causes.push_back({fmt::format("status.storedVersions[{}]", at), "FieldValueInvalid",
                        fmt::format("Invalid value: \"{}\": must appear in spec.versions", name)});
    }
    ++at;
  }
}

void check_definition(const Json& object, const Json* old, Causes& causes) {
  try {
    kube::resources_of_crd(object);
  } catch (const kube::StatusError& error) {
    for (const kube::Cause& cause : error.details().causes) causes.push_back(cause);
    if (error.details().causes.empty()) {
      causes.push_back({"spec", "FieldValueInvalid", error.message()});
    }
  }
  if (text_at(object, "spec.conversion.strategy") != "None") {
    causes.push_back({"spec.conversion.strategy", "FieldValueNotSupported",
                      fmt::format("Unsupported value: \"{}\": supported values: \"None\"",
                                  text_at(object, "spec.conversion.strategy"))});
  }
  if (old == nullptr) return;
  for (const std::string_view path :
       {"spec.group", "spec.scope", "spec.names.plural", "spec.names.kind"}) {
    check_fixed(object, *old, path, causes);
  }
  check_stored_versions(object, causes);
}

JsonArray definition_cells(const Json& object, base::Timestamp) {
  return {kube::name_of(object), text_at(object, "metadata.creationTimestamp")};
}

}  // namespace

const Kind kNamespace{
    .prepare = prepare_namespace, .cells = namespace_cells, .names = NameRule::label};
const Kind kDefinition{.prepare = prepare_definition,
                       .check = check_definition,
                       .cells = definition_cells,
                       .put = Kind::Put::needs_version,
                       .generations = Kind::Generations::counted};

}  // namespace meridian::kubeserver::kinds
