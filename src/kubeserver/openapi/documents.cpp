// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/openapi/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/strings.h"
#include "kubeserver/openapi/common_schemas.h"

namespace meridian::kubeserver::openapi {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using kinds::Registry;
using kinds::Served;
using kinds::ServedPtr;

constexpr std::string_view kGvk = "x-kubernetes-group-version-kind";
constexpr std::string_view kV3Schemas = "#/components/schemas/";
constexpr std::string_view kV2Schemas = "#/definitions/";

enum class Version { two, three };

JsonObject gvk_of(const Served& served) {
  return {{"group", served.group()},
          {"version", served.resource.id.version},
          {"kind", served.resource.kind}};
}

// "com.amazonaws.aws.sagemaker.v1.TrainingJob": the group's labels in reverse.
std::string schema_name(const Served& served) {
  const std::string& version = served.resource.id.version;
  if (served.kind != nullptr) {
    std::string group = served.group().empty() ? "core" : served.group();
    group = group.substr(0, group.find('.'));
    return fmt::format("io.k8s.api.{}.{}.{}", group, version, served.resource.kind);
  }
  std::vector<std::string> labels = base::split(served.group(), '.');
  std::ranges::reverse(labels);
  return fmt::format("{}.{}.{}", base::join(labels, "."), version, served.resource.kind);
}

JsonObject reference(std::string_view prefix, std::string_view name) {
  return {{"$ref", std::string(prefix) + std::string(name)}};
}

JsonObject text_property(std::string_view description) {
  return {{"type", "string"}, {"description", description}};
}

// The resource's schema with apiVersion, kind and metadata as every object has them.
Json object_schema(const Served& served, std::string_view prefix) {
  JsonObject schema{{"type", "object"}};
  if (served.resource.schema && served.resource.schema->document().is_object()) {
    schema = served.resource.schema->document().get_object();
  }
  JsonObject properties{{"apiVersion", text_property("The version of this object's form.")},
                        {"kind", text_property("What this object is.")},
                        {"metadata", reference(prefix, kObjectMetaName)}};
  const auto own = schema.find("properties");
  if (own != schema.end() && own->value().is_object()) {
    for (const auto& [name, value] : own->value().get_object()) {
      if (!properties.contains(name)) properties[name] = value;
    }
  }
  schema["properties"] = std::move(properties);
  schema[kGvk] = JsonArray{gvk_of(served)};
  return schema;
}

Json list_schema(const Served& served, std::string_view prefix) {
  JsonObject gvk = gvk_of(served);
  gvk["kind"] = served.resource.list_kind;
  return JsonObject{
      {"type", "object"},
      {"required", JsonArray{"items"}},
      {"properties",
       JsonObject{{"apiVersion", text_property("The version of this object's form.")},
                  {"kind", text_property("What this object is.")},
                  {"metadata", reference(prefix, kListMetaName)},
                  {"items", JsonObject{{"type", "array"},
                                       {"items", reference(prefix, schema_name(served))}}}}},
      {kGvk, JsonArray{std::move(gvk)}}};
}

Json parameter(Version version, std::string_view name, std::string_view type) {
  JsonObject out{{"name", name}, {"in", "query"}};
  if (version == Version::two) {
    out["type"] = type;
  } else {
    out["schema"] = JsonObject{{"type", type}};
  }
  return out;
}

JsonObject operation(const Served& served, Version version, std::string_view action,
                     std::string_view id) {
  JsonArray parameters;
  const bool writes = action == "post" || action == "put" || action == "patch";
  if (writes || action == "delete") parameters.push_back(parameter(version, "dryRun", "string"));
  if (writes) {
    parameters.push_back(parameter(version, "fieldManager", "string"));
    parameters.push_back(parameter(version, "fieldValidation", "string"));
  }
  if (action == "patch") parameters.push_back(parameter(version, "force", "boolean"));
  if (action == "list") {
    for (const std::string_view name : {"labelSelector", "fieldSelector", "continue"}) {
      parameters.push_back(parameter(version, name, "string"));
    }
    parameters.push_back(parameter(version, "limit", "integer"));
    parameters.push_back(parameter(version, "watch", "boolean"));
  }
  return {{"operationId", id},
          {"parameters", std::move(parameters)},
          {"responses", JsonObject{{"200", JsonObject{{"description", "OK"}}}}},
          {"x-kubernetes-action", action},
          {kGvk, gvk_of(served)}};
}

// Adds the paths of one resource.
void add_paths(const Served& served, Version version, JsonObject& paths) {
  const kube::ResourceId& id = served.resource.id;
  const std::string root =
      id.group.empty() ? "/api/v1" : fmt::format("/apis/{}/{}", id.group, id.version);
  const std::string place = served.namespaced() ? "/namespaces/{namespace}/" : "/";
  const std::string collection = root + place + id.plural;
  const auto one = [&](std::string_view action) {
    return operation(served, version, action,
                     fmt::format("{}{}{}", action, schema_name(served),
                                 served.namespaced() ? "Namespaced" : ""));
  };
  if (!served.is_stored()) {
    paths[collection] = JsonObject{{"post", one("post")}};
    return;
  }
  paths[collection] = JsonObject{{"get", one("list")}, {"post", one("post")}};
  paths[collection + "/{name}"] = JsonObject{
      {"get", one("get")}, {"put", one("put")}, {"patch", one("patch")}, {"delete", one("delete")}};
}

void add_schemas(const Served& served, std::string_view prefix, JsonObject& schemas) {
  schemas[schema_name(served)] = object_schema(served, prefix);
  if (served.is_stored()) {
    schemas[schema_name(served) + "List"] = list_schema(served, prefix);
  }
}

std::string v3_place(std::string_view group, std::string_view version) {
  return group.empty() ? fmt::format("api/{}", version) : fmt::format("apis/{}/{}", group, version);
}

JsonObject info() { return {{"title", "Kubernetes"}, {"version", kKubernetesVersion}}; }

}  // namespace

std::string v3_hash(const Registry& registry, std::string_view group, std::string_view version) {
  return base::sha256_hex(base::to_text(v3_document(registry, group, version))).substr(0, 32);
}

Json v3_index(const Registry& registry) {
  JsonObject paths;
  for (const kinds::Group& group : registry.groups()) {
    for (const std::string& version : group.versions) {
      const std::string place = v3_place(group.name, version);
      paths[place] =
          JsonObject{{"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", place,
                                                       v3_hash(registry, group.name, version))}};
    }
  }
  return JsonObject{{"paths", std::move(paths)}};
}

Json v3_document(const Registry& registry, std::string_view group, std::string_view version) {
  const std::vector<ServedPtr> all = registry.of(group, version);
  if (all.empty()) return nullptr;
  JsonObject paths, schemas;
  for (const ServedPtr& served : all) {
    add_paths(*served, Version::three, paths);
    add_schemas(*served, kV3Schemas, schemas);
  }
  add_common_schemas(schemas, kV3Schemas);
  return JsonObject{{"openapi", "3.0.0"},
                    {"info", info()},
                    {"paths", std::move(paths)},
                    {"components", JsonObject{{"schemas", std::move(schemas)}}}};
}

Json v2_document(const Registry& registry) {
  JsonObject paths, schemas;
  for (const ServedPtr& served : registry.all()) {
    add_paths(*served, Version::two, paths);
    add_schemas(*served, kV2Schemas, schemas);
  }
  add_common_schemas(schemas, kV2Schemas);
  for (auto& [name, schema] : schemas) schema = v2_schema(schema);
  return JsonObject{{"swagger", "2.0"},
                    {"info", info()},
                    {"paths", std::move(paths)},
                    {"definitions", std::move(schemas)}};
}

Json v2_schema(const Json& schema) {
  if (!schema.is_object()) return schema;
  constexpr std::array<std::string_view, 8> kept{
      "$ref",     "description", "format",  "type",
      "required", "enum",        "pattern", "x-kubernetes-group-version-kind"};
  JsonObject out;
  for (const std::string_view name : kept) {
    if (const Json* value = base::find(schema, name)) out[name] = *value;
  }
  // Clients of version 2 would refuse what these let pass.
  const bool open = base::bool_or(schema, "nullable", false) ||
                    base::bool_or(schema, "x-kubernetes-int-or-string", false) ||
                    base::bool_or(schema, "x-kubernetes-preserve-unknown-fields", false);
  if (open) {
    out.erase("type");
    return out;
  }
  if (const Json* items = base::find(schema, "items")) out["items"] = v2_schema(*items);
  if (const Json* more = base::find(schema, "additionalProperties")) {
    out["additionalProperties"] = v2_schema(*more);
  }
  if (const Json* properties = base::find(schema, "properties")) {
    JsonObject converted;
    if (properties->is_object()) {
      for (const auto& [name, value] : properties->get_object()) converted[name] = v2_schema(value);
    }
    out["properties"] = std::move(converted);
  }
  return out;
}

}  // namespace meridian::kubeserver::openapi
