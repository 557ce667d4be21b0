// SPDX-License-Identifier: Apache-2.0
#include "fleet/array_crd.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

JsonObject text(std::string_view description) {
  return {{"type", "string"}, {"description", description}};
}

JsonObject whole(std::string_view description, std::int64_t minimum = 0) {
  return {{"type", "integer"}, {"minimum", minimum}, {"description", description}};
}

JsonObject number() { return {{"type", "number"}, {"minimum", 0}}; }

JsonObject open_object(std::string_view description) {
  return {{"type", "object"},
          {"description", description},
          {"x-kubernetes-preserve-unknown-fields", true}};
}

JsonObject rows_schema() {
  return {
      {"type", "object"},
      {"description", "Where rows come from: exactly one of these."},
      {"properties",
       {{"sql", text("One SELECT on the campaign database and the catalog; a row per job.")},
        {"manifest",
         text("s3:// URI of a text with a line per row: region, s3-location, …; an optional "
              "header names the columns.")},
        {"inline",
         {{"type", "array"},
          {"maxItems", 10'000},
          {"description", "Rows in the resource itself: column to value."},
          {"items", open_object("column: value")}}}}},
      {"x-kubernetes-validations",
       JsonArray{JsonObject{
           {"rule",
            "(has(self.sql) ? 1 : 0) + (has(self.manifest) ? 1 : 0) + (has(self.inline) ? 1 : 0) "
            "== 1"},
           {"message", "exactly one of sql, manifest and inline"}}}}};
}

JsonObject spec_schema() {
  return {
      {"type", "object"},
      {"required", {"rows", "template"}},
      {"properties",
       {{"rows", rows_schema()},
        {"key",
         {{"type", "array"},
          {"maxItems", 64},
          {"description",
           "Columns that tell rows apart (all, if absent): a later run launches only rows that are "
           "new, changed, failed or stopped."},
          {"items", {{"type", "string"}}}}},
        {"parallelism", whole("Jobs at once, over all regions; 100 if absent.", 1)},
        {"failurePolicy",
         {{"type", "object"},
          {"properties",
           {{"stopAfter", whole("Failures after which nothing more is started.", 1)}}}}},
        {"suspend",
         {{"type", "boolean"},
          {"description", "Stops what runs and starts nothing until it is false again."}}},
        {"placement",
         {{"type", "string"},
          {"enum", JsonArray{"pinned", "data", "cost", "time"}},
          {"description",
           "Where rows run: pinned by template.region (default), with their data, for least money, "
           "or to be done soonest."}}},
        {"deadline", text("A duration from the start of a run (90m, 48h, 2d) or a time.")},
        {"budget",
         {{"type", "object"},
          {"description", "USD. Rows beyond the hard one wait; the soft one is kept if it can be."},
          {"properties", {{"soft", number()}, {"hard", number()}}}}},
        {"allowedRegions",
         {{"type", "array"},
          {"maxItems", 100},
          {"description", "Residency: the regions that rows may go to; all, if absent."},
          {"items", {{"type", "string"}}}}},
        {"spot",
         {{"type", "string"},
          {"enum", JsonArray{"never", "whenItPays", "deadline"}},
          {"description",
           "Whether rows may run on spot: never (default), where it costs less, or where it costs "
           "less and time is left to do them on demand."}}},
        {"reserve", whole("Instances of each pool that are kept for others.")},
        {"work", open_object("seconds; or images and epochs. $(row.COLUMN) is filled in.")},
        {"stepModel", open_object("Of one instance: imagesPerSecond, batch, gradientMegabytes, "
                                  "latencySeconds, megabytesPerSecond.")},
        {"checkpoints", open_object("everySeconds, writeSeconds, restartSeconds: what a reclaim "
                                    "costs.")},
        {"template",
         open_object("The spec of a TrainingJob, with $(row.COLUMN) anywhere in its values.")}}}};
}

JsonObject status_schema() {
  JsonObject properties;
  for (const char* name : {"phase", "run", "cost", "startTime", "completionTime", "waitingFor"})
    properties[name] = JsonObject{{"type", "string"}};
  for (const char* name :
       {"rows", "pending", "running", "succeeded", "failed", "stopped", "observedGeneration"})
    properties[name] = JsonObject{{"type", "integer"}};
  for (const char* name : {"firstFailures", "conditions"})
    properties[name] = JsonObject{{"type", "array"}, {"items", open_object("")}};
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

JsonArray columns() {
  const auto column = [](std::string_view name, std::string_view type, std::string_view path) {
    return JsonObject{{"name", name}, {"type", type}, {"jsonPath", path}};
  };
  JsonObject cost = column("Cost", "string", ".status.cost");
  cost["priority"] = 1;
  return {column("Phase", "string", ".status.phase"),
          column("Rows", "integer", ".status.rows"),
          column("Pending", "integer", ".status.pending"),
          column("Running", "integer", ".status.running"),
          column("Succeeded", "integer", ".status.succeeded"),
          column("Failed", "integer", ".status.failed"),
          std::move(cost),
          column("Age", "date", ".metadata.creationTimestamp")};
}

}  // namespace

Json training_array_crd() {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "trainingarrays.meridian.dev"}}},
          {"spec",
           {{"group", "meridian.dev"},
            {"names",
             {{"kind", "TrainingArray"},
              {"listKind", "TrainingArrayList"},
              {"plural", "trainingarrays"},
              {"singular", "trainingarray"},
              {"shortNames", {"ta"}},
              {"categories", {"sagemaker", "meridian"}}}},
            {"scope", "Namespaced"},
            {"versions", JsonArray{JsonObject{{"name", "v1alpha1"},
                                              {"served", true},
                                              {"storage", true},
                                              {"subresources", {{"status", JsonObject{}}}},
                                              {"additionalPrinterColumns", columns()},
                                              {"schema",
                                               {{"openAPIV3Schema",
                                                 {{"type", "object"},
                                                  {"required", {"spec"}},
                                                  {"properties",
                                                   {{"apiVersion", {{"type", "string"}}},
                                                    {"kind", {{"type", "string"}}},
                                                    {"metadata", {{"type", "object"}}},
                                                    {"spec", spec_schema()},
                                                    {"status", status_schema()}}}}}}}}}}}}};
}

}  // namespace meridian::fleet
