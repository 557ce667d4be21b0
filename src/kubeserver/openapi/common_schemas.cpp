// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/openapi/common_schemas.h"

#include "base/error.h"
#include "base/strings.h"

namespace meridian::kubeserver::openapi {
namespace {

using base::Json;

constexpr std::string_view kSchemas = R"json({
"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {
 "description": "What every object has: its name, its place, its history.",
 "type": "object",
 "properties": {
  "name": {"type": "string", "description": "Unique in its namespace; cannot change."},
  "generateName": {"type": "string", "description": "The beginning of a name that the server completes when there is no name."},
  "namespace": {"type": "string", "description": "The scope of the name; cannot change."},
  "uid": {"type": "string", "description": "Unique over time and space; set by the server."},
  "resourceVersion": {"type": "string", "description": "Changes with every write. In an update: the version that is replaced."},
  "generation": {"type": "integer", "format": "int64", "description": "Counts changes of what is wanted (spec)."},
  "creationTimestamp": {"type": "string", "format": "date-time", "nullable": true, "description": "Set by the server."},
  "deletionTimestamp": {"type": "string", "format": "date-time", "nullable": true, "description": "When the deletion was asked for; the object goes once its finalizers are gone."},
  "deletionGracePeriodSeconds": {"type": "integer", "format": "int64"},
  "labels": {"type": "object", "additionalProperties": {"type": "string"}, "description": "To select objects by."},
  "annotations": {"type": "object", "additionalProperties": {"type": "string"}, "description": "For tools to keep what they need."},
  "finalizers": {"type": "array", "items": {"type": "string"}, "description": "Who must act before the object may go."},
  "ownerReferences": {"type": "array", "items": {"$ref": "@io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference"}, "description": "When all of these are gone, this object goes too."},
  "managedFields": {"type": "array", "items": {"$ref": "@io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry"}, "description": "Who wrote which field last."},
  "selfLink": {"type": "string"}}},
"io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference": {
 "description": "An object that this one belongs to; in the same namespace or in none.",
 "type": "object",
 "required": ["apiVersion", "kind", "name", "uid"],
 "properties": {
  "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "name": {"type": "string"}, "uid": {"type": "string"},
  "controller": {"type": "boolean", "description": "The owner manages this object."},
  "blockOwnerDeletion": {"type": "boolean", "description": "In a foreground deletion the owner waits for this object."}}},
"io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry": {
 "description": "The fields that one manager wrote in one way.",
 "type": "object",
 "properties": {
  "manager": {"type": "string"}, "operation": {"type": "string", "description": "Apply or Update."},
  "apiVersion": {"type": "string"}, "subresource": {"type": "string"},
  "time": {"type": "string", "format": "date-time", "nullable": true},
  "fieldsType": {"type": "string"},
  "fieldsV1": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
"io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta": {
 "description": "Of a list: its instant, and where the next page begins.",
 "type": "object",
 "properties": {
  "resourceVersion": {"type": "string"}, "continue": {"type": "string"},
  "remainingItemCount": {"type": "integer", "format": "int64"}, "selfLink": {"type": "string"}}}
})json";

}  // namespace

void add_common_schemas(base::JsonObject& schemas, std::string_view prefix) {
  const std::string text =
      base::replace_all(kSchemas, "\"$ref\": \"@", "\"$ref\": \"" + std::string(prefix));
  const auto parsed = base::parse_json(text);
  if (!parsed) throw base::Error(base::Code::internal, parsed.error().text());
  for (const auto& [name, schema] : parsed->as_object()) schemas[name] = schema;
}

}  // namespace meridian::kubeserver::openapi
