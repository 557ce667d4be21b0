// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/kinds/tables.h"

namespace meridian::kubeserver::kinds {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

JsonArray column_definitions(const kube::Resource& resource) {
  JsonArray columns;
  for (const kube::PrinterColumn& column : resource.columns) {
    columns.push_back(JsonObject{{"name", column.name},
                                 {"type", column.type},
                                 {"format", column.format},
                                 {"description", column.description},
                                 {"priority", column.priority}});
  }
  return columns;
}

}  // namespace

Json metadata_only(const Json& object) {
  const Json* metadata = base::find(object, "metadata");
  return JsonObject{{"kind", "PartialObjectMetadata"},
                    {"apiVersion", "meta.k8s.io/v1"},
                    {"metadata", metadata == nullptr ? Json(JsonObject()) : *metadata}};
}

Json make_table(const Served& served, const std::vector<Json>& objects, base::Timestamp now,
                kube::RowObject row_object) {
  if (served.kind == nullptr || served.kind->cells == nullptr) {
    return kube::make_table(served.resource, objects, now, row_object);
  }
  JsonArray rows;
  for (const Json& object : objects) {
    JsonObject row{{"cells", served.kind->cells(object, now)}};
    if (row_object == kube::RowObject::full) row["object"] = object;
    if (row_object == kube::RowObject::metadata) row["object"] = metadata_only(object);
    rows.push_back(std::move(row));
  }
  return JsonObject{{"kind", "Table"},
                    {"apiVersion", "meta.k8s.io/v1"},
                    {"metadata", JsonObject()},
                    {"columnDefinitions", column_definitions(served.resource)},
                    {"rows", std::move(rows)}};
}

}  // namespace meridian::kubeserver::kinds
