// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/openapi/discovery.h"

namespace meridian::kubeserver::openapi {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using kinds::Group;
using kinds::Registry;
using kinds::Served;

JsonArray texts(const std::vector<std::string>& all) {
  JsonArray out;
  for (const std::string& one : all) out.emplace_back(one);
  return out;
}

JsonObject version_entry(const std::string& group, const std::string& version) {
  return {{"groupVersion", kube::GroupVersion{group, version}.text()}, {"version", version}};
}

JsonObject group_entry(const Group& group) {
  JsonArray versions;
  for (const std::string& version : group.versions) {
    versions.push_back(version_entry(group.name, version));
  }
  return {{"name", group.name},
          {"versions", std::move(versions)},
          {"preferredVersion", version_entry(group.name, group.versions.front())}};
}

JsonArray subresource_verbs() { return {"get", "patch", "update"}; }

JsonObject resource_entry(const Served& served) {
  const kube::Resource& r = served.resource;
  JsonObject out{{"name", r.id.plural},
                 {"singularName", r.singular},
                 {"namespaced", served.namespaced()},
                 {"kind", r.kind},
                 {"verbs", texts(served.verbs())}};
  if (!r.short_names.empty()) out["shortNames"] = texts(r.short_names);
  if (!r.categories.empty()) out["categories"] = texts(r.categories);
  return out;
}

JsonObject kind_reference(const Served& served) {
  return {{"group", served.group()},
          {"version", served.resource.id.version},
          {"kind", served.resource.kind}};
}

JsonObject aggregated_resource(const Served& served) {
  const kube::Resource& r = served.resource;
  JsonObject out{{"resource", r.id.plural},
                 {"responseKind", kind_reference(served)},
                 {"scope", served.namespaced() ? "Namespaced" : "Cluster"},
                 {"singularResource", r.singular},
                 {"verbs", texts(served.verbs())}};
  if (!r.short_names.empty()) out["shortNames"] = texts(r.short_names);
  if (!r.categories.empty()) out["categories"] = texts(r.categories);
  JsonArray parts;
  for (const std::string& name : served.subresources()) {
    parts.push_back(JsonObject{{"subresource", name},
                               {"responseKind", kind_reference(served)},
                               {"verbs", subresource_verbs()}});
  }
  if (!parts.empty()) out["subresources"] = std::move(parts);
  return out;
}

JsonObject aggregated_group(const Registry& registry, const Group& group) {
  JsonArray versions;
  for (const std::string& version : group.versions) {
    JsonArray resources;
    for (const kinds::ServedPtr& served : registry.of(group.name, version)) {
      resources.push_back(aggregated_resource(*served));
    }
    versions.push_back(JsonObject{
        {"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
  }
  JsonObject metadata{{"creationTimestamp", nullptr}};
  if (!group.name.empty()) metadata["name"] = group.name;
  return {{"metadata", std::move(metadata)}, {"versions", std::move(versions)}};
}

}  // namespace

Json api_versions(const std::string& server_address) {
  return JsonObject{
      {"kind", "APIVersions"},
      {"versions", JsonArray{"v1"}},
      {"serverAddressByClientCIDRs",
       JsonArray{JsonObject{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}}}}};
}

Json api_group_list(const Registry& registry) {
  JsonArray groups;
  for (const Group& group : registry.groups()) {
    if (!group.name.empty()) groups.push_back(group_entry(group));
  }
  return JsonObject{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

Json api_group(const Registry& registry, std::string_view name) {
  for (const Group& group : registry.groups()) {
    if (group.name != name || name.empty()) continue;
    JsonObject out{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
    for (auto& [member, value] : group_entry(group)) out[member] = value;
    return out;
  }
  return nullptr;
}

Json api_resource_list(const Registry& registry, std::string_view group, std::string_view version) {
  JsonArray resources;
  for (const kinds::ServedPtr& served : registry.of(group, version)) {
    resources.push_back(resource_entry(*served));
    for (const std::string& part : served->subresources()) {
      resources.push_back(JsonObject{{"name", served->plural() + "/" + part},
                                     {"singularName", ""},
                                     {"namespaced", served->namespaced()},
                                     {"kind", served->resource.kind},
                                     {"verbs", subresource_verbs()}});
    }
  }
  if (resources.empty()) return nullptr;
  return JsonObject{
      {"kind", "APIResourceList"},
      {"apiVersion", "v1"},
      {"groupVersion", kube::GroupVersion{std::string(group), std::string(version)}.text()},
      {"resources", std::move(resources)}};
}

Json aggregated_discovery(const Registry& registry, Core core, std::string_view version) {
  JsonArray items;
  for (const Group& group : registry.groups()) {
    if (group.name.empty() != (core == Core::yes)) continue;
    items.push_back(aggregated_group(registry, group));
  }
  return JsonObject{{"kind", "APIGroupDiscoveryList"},
                    {"apiVersion", "apidiscovery.k8s.io/" + std::string(version)},
                    {"metadata", JsonObject()},
                    {"items", std::move(items)}};
}

}  // namespace meridian::kubeserver::openapi
