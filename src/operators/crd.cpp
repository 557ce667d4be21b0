// SPDX-License-Identifier: Apache-2.0
#include "operators/crd.h"

#include <fmt/format.h>

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

JsonArray printer_columns(const Kind& kind) {
  JsonArray columns;
  for (const kube::PrinterColumn& c : kind.columns) {
    JsonObject column{{"name", c.name}, {"type", c.type}, {"jsonPath", c.json_path}};
    if (c.priority != 0) column["priority"] = c.priority;
    columns.push_back(std::move(column));
  }
  return columns;
}

JsonObject root_schema(const Kind& kind) {
  return {{"type", "object"},
          {"required", {"spec"}},
          {"properties",
           {{"apiVersion", {{"type", "string"}}},
            {"kind", {{"type", "string"}}},
            {"metadata", {{"type", "object"}}},
            {"spec", spec_schema(kind)},
            {"status", status_schema(kind)}}}};
}

}  // namespace

Json crd_of(const Kind& kind) {
  JsonObject names{{"kind", kind.name},
                   {"listKind", kind.name + "List"},
                   {"plural", kind.plural},
                   {"singular", kind.singular},
                   {"categories", {"sagemaker"}}};
  if (!kind.short_names.empty()) {
    names["shortNames"] = JsonArray(kind.short_names.begin(), kind.short_names.end());
  }
  JsonObject version{{"name", kVersion},
                     {"served", true},
                     {"storage", true},
                     {"subresources", {{"status", JsonObject{}}}},
                     {"additionalPrinterColumns", printer_columns(kind)},
                     {"schema", {{"openAPIV3Schema", root_schema(kind)}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", fmt::format("{}.{}", kind.plural, kGroup)}}},
          {"spec",
           {{"group", kGroup},
            {"names", std::move(names)},
            {"scope", "Namespaced"},
            {"versions", JsonArray{std::move(version)}}}}};
}

std::vector<Json> all_crds() {
  std::vector<Json> all;
  for (const Kind& kind : kinds()) all.push_back(crd_of(kind));
  return all;
}

}  // namespace meridian::operators
