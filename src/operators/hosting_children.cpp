// SPDX-License-Identifier: Apache-2.0
#include "operators/hosting_children.h"

#include <fmt/format.h>

#include "kube/object.h"
#include "operators/definition_controller.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

const Json& spec_of(const Json& object) {
  static const Json kNone = JsonObject{};
  const Json* spec = base::find(object, "spec");
  return spec != nullptr ? *spec : kNone;
}

void copy(const Json& from, JsonObject& to, std::initializer_list<const char*> members) {
  for (const char* member : members) {
    if (const Json* value = base::find(from, member)) to[member] = *value;
  }
}

// Object names: lower case letters, digits and dashes, at most 253.
std::string object_name(const Json& deployment, std::string_view part, const std::string& hash) {
  std::string middle;
  for (const char c : part) {
    const char low = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    middle += (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9') ? low : '-';
  }
  return fmt::format("{}{}{}-{}", kube::name_of(deployment).substr(0, 180),
                     middle.empty() ? "" : "-", middle.substr(0, 60), hash);
}

Json child(const Json& deployment, const Kind& kind, std::string_view part, JsonObject spec) {
  copy(spec_of(deployment), spec, {"region", "sageMakerEndpoint", "tags"});
  const std::string hash = content_hash(spec);
  Json object = {{"apiVersion", fmt::format("{}/{}", kGroup, kVersion)},
                 {"kind", kind.name},
                 {"metadata",
                  {{"name", object_name(deployment, part, hash)},
                   {"namespace", kube::namespace_of(deployment)},
                   {"labels",
                    {{kOwnerNamespaceLabel, kube::namespace_of(deployment)},
                     // Values of labels have 63 characters at most; the owner reference is exact.
                     {kOwnerLabel, kube::name_of(deployment).substr(0, 63)}}}}},
                 {"spec", std::move(spec)}};
  kube::add_owner(object, {.api_version = kube::api_version_of(deployment),
                           .kind = kube::kind_of(deployment),
                           .name = kube::name_of(deployment),
                           .uid = kube::uid_of(deployment)});
  return object;
}

}  // namespace

std::vector<Json> model_resources(const Json& deployment) {
  std::vector<Json> models;
  const Json* declared = base::find(spec_of(deployment), "models");
  if (declared == nullptr || !declared->is_array()) return models;
  for (const Json& model : declared->get_array()) {
    JsonObject spec;
    copy(model, spec,
         {"executionRoleArn", "enableNetworkIsolation", "vpcConfig", "inferenceExecutionConfig"});
    const Json* containers = base::find(model, "containers");
    if (containers != nullptr && containers->is_array()) {
      // One container is primary, whatever primaryContainer says; several are a chain.
      if (containers->get_array().size() == 1) {
        spec["primaryContainer"] = containers->get_array()[0];
      } else {
        spec["containers"] = *containers;
      }
    }
    models.push_back(
        child(deployment, get_kind("Model"), base::string_or(model, "name"), std::move(spec)));
  }
  return models;
}

Json config_resource(const Json& deployment, const std::map<std::string, std::string>& names) {
  JsonObject spec;
  copy(spec_of(deployment), spec,
       {"productionVariants", "shadowProductionVariants", "kmsKeyId", "dataCaptureConfig",
        "asyncInferenceConfig", "explainerConfig"});
  for (const char* member : {"productionVariants", "shadowProductionVariants"}) {
    if (!spec.contains(member) || !spec[member].is_array()) continue;
    for (Json& variant : spec[member].get_array()) {
      if (!variant.is_object()) continue;
      const auto known = names.find(base::string_or(variant, "modelName"));
      if (known != names.end()) variant.get_object()["modelName"] = known->second;
    }
  }
  return child(deployment, get_kind("EndpointConfig"), "", std::move(spec));
}

std::string deployment_of(const Json& child) {
  for (const kube::OwnerReference& owner : kube::owners_of(child)) {
    if (owner.kind == "HostingDeployment") return owner.name;
  }
  return "";
}

}  // namespace meridian::operators
