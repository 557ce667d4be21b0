// Statuses: what the original showed, what today's API adds, and standard conditions.
//
// SPDX-License-Identifier: Apache-2.0
#include "operators/crd.h"

namespace meridian::operators {
namespace {

using base::JsonArray;
using base::JsonObject;

JsonObject text() { return {{"type", "string"}}; }
JsonObject whole() { return {{"type", "integer"}, {"format", "int64"}}; }
JsonObject time() { return {{"type", "string"}, {"format", "date-time"}}; }
// Copied from a Describe: its members are the API's.
JsonObject anything() {
  return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
}
JsonObject list_of_anything() { return {{"type", "array"}, {"items", anything()}}; }

JsonObject conditions() {
  JsonObject condition{{"type", "object"},
                       {"required", {"type", "status", "lastTransitionTime", "reason", "message"}},
                       {"properties",
                        {{"type", text()},
                         {"status", {{"type", "string"}, {"enum", {"True", "False", "Unknown"}}}},
                         {"observedGeneration", whole()},
                         {"lastTransitionTime", time()},
                         {"reason", text()},
                         {"message", text()}}}};
  return {{"type", "array"},
          {"items", std::move(condition)},
          {"x-kubernetes-list-type", "map"},
          {"x-kubernetes-list-map-keys", {"type"}}};
}

void add_kind(JsonObject& p, const Kind& kind) {
  if (kind.name == "TrainingJob") {
    for (const char* name : {"secondaryStatus", "modelPath", "cost", "trainingJobArn"})
      p[name] = text();
    for (const char* name : {"trainingTimeInSeconds", "billableTimeInSeconds"}) p[name] = whole();
    p["debugRuleEvaluationStatuses"] = list_of_anything();
  } else if (kind.name == "HyperparameterTuningJob") {
    p["trainingJobStatusCounters"] = anything();
    p["bestTrainingJob"] = anything();
  } else if (kind.nature == Nature::hosting) {
    for (const char* name : {"endpointArn", "endpointConfigName", "endpointUrl", "failureReason"}) {
      p[name] = text();
    }
    for (const char* name : {"modelNames", "productionVariants"}) p[name] = list_of_anything();
    p["creationTime"] = time();
    p["lastModifiedTime"] = time();
  } else if (kind.nature == Nature::definition) {
    p[lower_first(kind.arn_member)] = text();
    p["lastUpdateTime"] = time();
  } else if (kind.nature == Nature::scaling) {
    p["resourceIDList"] = JsonObject{{"type", "array"}, {"items", text()}};
  }
}

}  // namespace

JsonObject status_schema(const Kind& kind) {
  JsonObject properties{{kind.status_field, text()}, {kind.status_name_field, text()},
                        {"additional", text()},      {"reason", text()},
                        {"region", text()},          {"observedGeneration", whole()},
                        {"lastCheckTime", time()},   {"conditions", conditions()}};
  if (!kind.log_group.empty()) properties["cloudWatchLogUrl"] = text();
  add_kind(properties, kind);
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"x-kubernetes-preserve-unknown-fields", true}};
}

}  // namespace meridian::operators
