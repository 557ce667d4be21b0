// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "base/strings.h"
#include "kubeserver/kinds/builtin.h"

namespace meridian::kubeserver::kinds {
namespace {

constexpr std::string_view kNamespaceSchema = R"json({
 "description": "A scope for names; deleting it deletes everything in it.",
 "type": "object",
 "properties": {
  "spec": {"type": "object", "properties": {
   "finalizers": {"type": "array", "items": {"type": "string"},
    "description": "What must be done before the namespace goes: \"kubernetes\" is the removal of its content."}}},
  "status": {"type": "object", "properties": {
   "phase": {"type": "string", "description": "Active or Terminating."},
   "conditions": {"type": "array", "items": {"type": "object", "properties": {
    "type": {"type": "string"}, "status": {"type": "string"}, "reason": {"type": "string"},
    "message": {"type": "string"}, "lastTransitionTime": @time@}}}}}}
})json";

// What several schemas hold, written "@name@" there.
constexpr std::pair<std::string_view, std::string_view> kFragments[] = {
    {"@reference@", R"json({"type": "object", "properties": {
  "kind": {"type": "string"}, "namespace": {"type": "string"}, "name": {"type": "string"},
  "uid": {"type": "string"}, "apiVersion": {"type": "string"},
  "resourceVersion": {"type": "string"}, "fieldPath": {"type": "string"}}})json"},
    {"@source@", R"json({"type": "object", "properties": {
  "component": {"type": "string"}, "host": {"type": "string"}}})json"},
    {"@time@", R"json({"type": "string", "format": "date-time", "nullable": true})json"},
    {"@names@", R"json({"type": "object", "properties": {
  "plural": {"type": "string"}, "singular": {"type": "string"},
  "shortNames": {"type": "array", "items": {"type": "string"}}, "kind": {"type": "string"},
  "listKind": {"type": "string"},
  "categories": {"type": "array", "items": {"type": "string"}}}})json"},
};

constexpr std::string_view kEventSchema = R"json({
 "description": "What happened to an object, for people to read.",
 "type": "object",
 "properties": {
  "involvedObject": @reference@,
  "reason": {"type": "string", "description": "One word in CamelCase."},
  "message": {"type": "string"},
  "source": @source@,
  "firstTimestamp": @time@,
  "lastTimestamp": @time@,
  "count": {"type": "integer", "description": "How often it happened."},
  "type": {"type": "string", "description": "Normal or Warning."},
  "eventTime": @time@,
  "series": {"type": "object", "nullable": true, "properties": {
   "count": {"type": "integer"}, "lastObservedTime": @time@}},
  "action": {"type": "string"},
  "related": @reference@,
  "reportingComponent": {"type": "string"},
  "reportingInstance": {"type": "string"}}
})json";

constexpr std::string_view kEventsEventSchema = R"json({
 "description": "What happened to an object, for people to read.",
 "type": "object",
 "properties": {
  "eventTime": @time@,
  "series": {"type": "object", "nullable": true, "properties": {
   "count": {"type": "integer"}, "lastObservedTime": @time@}},
  "reportingController": {"type": "string"},
  "reportingInstance": {"type": "string"},
  "action": {"type": "string"},
  "reason": {"type": "string", "description": "One word in CamelCase."},
  "regarding": @reference@,
  "related": @reference@,
  "note": {"type": "string"},
  "type": {"type": "string", "description": "Normal or Warning."},
  "deprecatedSource": @source@,
  "deprecatedFirstTimestamp": @time@,
  "deprecatedLastTimestamp": @time@,
  "deprecatedCount": {"type": "integer"}}
})json";

constexpr std::string_view kConfigMapSchema = R"json({
 "description": "Configuration as text and bytes.",
 "type": "object",
 "properties": {
  "data": {"type": "object", "nullable": true, "additionalProperties": {"type": "string"},
   "description": "Text by key."},
  "binaryData": {"type": "object", "nullable": true,
   "additionalProperties": {"type": "string"},
   "description": "Bytes by key, in base64."},
  "immutable": {"type": "boolean", "description": "No change of the data is accepted any more."}}
})json";

constexpr std::string_view kSecretSchema = R"json({
 "description": "Passwords, tokens and keys.",
 "type": "object",
 "properties": {
  "data": {"type": "object", "nullable": true,
   "additionalProperties": {"type": "string"},
   "description": "Bytes by key, in base64."},
  "stringData": {"type": "object", "nullable": true, "additionalProperties": {"type": "string"},
   "description": "Text by key; goes into data and is never read back."},
  "type": {"type": "string",
   "description": "What programs expect in it; Opaque when nothing is said."},
  "immutable": {"type": "boolean", "description": "No change of the data is accepted any more."}}
})json";

constexpr std::string_view kServiceAccountSchema = R"json({
 "description": "A name for programs. Tokens are made with meridian, not here.",
 "type": "object",
 "properties": {
  "secrets": {"type": "array", "items": @reference@},
  "imagePullSecrets": {"type": "array", "items": {"type": "object", "properties": {
   "name": {"type": "string"}}}},
  "automountServiceAccountToken": {"type": "boolean"}}
})json";

constexpr std::string_view kLeaseSchema = R"json({
 "description": "Who holds a role at present, and until when.",
 "type": "object",
 "properties": {
  "spec": {"type": "object", "properties": {
   "holderIdentity": {"type": "string", "nullable": true},
   "leaseDurationSeconds": {"type": "integer", "nullable": true,
    "description": "How long after renewTime the lease is still held."},
   "acquireTime": @time@,
   "renewTime": @time@,
   "leaseTransitions": {"type": "integer", "nullable": true},
   "strategy": {"type": "string", "nullable": true},
   "preferredHolder": {"type": "string", "nullable": true}}}}
})json";

constexpr std::string_view kDefinitionSchema =
    R"json({
 "description": "A resource that is served from now on, with its schema.",
 "type": "object",
 "properties": {
  "spec": {"type": "object", "properties": {
   "group": {"type": "string"},
   "names": @names@, "scope": {"type": "string", "description": "Namespaced or Cluster."},
   "versions": {"type": "array", "items": {"type": "object", "properties": {
    "name": {"type": "string"}, "served": {"type": "boolean"}, "storage": {"type": "boolean"},
    "deprecated": {"type": "boolean"}, "deprecationWarning": {"type": "string"},
    "schema": {"type": "object", "properties": {
     "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
    "subresources": {"type": "object", "properties": {
     "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
     "scale": {"type": "object", "properties": {"specReplicasPath": {"type": "string"},
      "statusReplicasPath": {"type": "string"}, "labelSelectorPath": {"type": "string"}}}}},
    "additionalPrinterColumns": {"type": "array", "items": {"type": "object", "properties": {
     "name": {"type": "string"}, "type": {"type": "string"}, "format": {"type": "string"},
     "description": {"type": "string"}, "priority": {"type": "integer"}, "jsonPath": {"type": "string"}}}},
    "selectableFields": {"type": "array", "items": {"type": "object", "properties": {
     "jsonPath": {"type": "string"}}}}}}},
   "conversion": {"type": "object", "properties": {"strategy": {"type": "string"},
    "webhook": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
   "preserveUnknownFields": {"type": "boolean"}}},
  "status": {"type": "object", "properties": {
   "conditions": {"type": "array", "nullable": true, "items": {"type": "object", "properties": {
    "type": {"type": "string"}, "status": {"type": "string"}, "reason": {"type": "string"},
    "message": {"type": "string"}, "lastTransitionTime": @time@}}},
   "acceptedNames": @names@, "storedVersions": {"type": "array", "nullable": true, "items": {"type": "string"}}}}}})json";

constexpr std::string_view kSelfSubjectReviewSchema = R"json({
 "type": "object", "properties": {"status": {"type": "object", "properties": {
  "userInfo": {"type": "object", "properties": {"username": {"type": "string"}, "uid": {"type": "string"},
   "groups": {"type": "array", "items": {"type": "string"}}}}}}}
})json";

constexpr std::string_view kAccessReviewSchema = R"json({
 "type": "object", "properties": {
  "spec": {"type": "object", "properties": {
   "resourceAttributes": {"type": "object", "nullable": true, "x-kubernetes-preserve-unknown-fields": true, "properties": {
    "namespace": {"type": "string"}, "verb": {"type": "string"}, "group": {"type": "string"}, "version": {"type": "string"},
    "resource": {"type": "string"}, "subresource": {"type": "string"}, "name": {"type": "string"}}},
   "nonResourceAttributes": {"type": "object", "nullable": true, "properties": {
    "path": {"type": "string"}, "verb": {"type": "string"}}}}},
  "status": {"type": "object", "properties": {"allowed": {"type": "boolean"}, "denied": {"type": "boolean"},
   "reason": {"type": "string"}, "evaluationError": {"type": "string"}}}}
})json";

constexpr std::string_view kRulesReviewSchema = R"json({
 "type": "object", "properties": {
  "spec": {"type": "object", "properties": {"namespace": {"type": "string"}}},
  "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
})json";

constexpr std::pair<std::string_view, std::string_view> kSchemas[] = {
    {"Namespace", kNamespaceSchema},
    {"Event", kEventSchema},
    {"events.k8s.io/Event", kEventsEventSchema},
    {"ConfigMap", kConfigMapSchema},
    {"Secret", kSecretSchema},
    {"ServiceAccount", kServiceAccountSchema},
    {"Lease", kLeaseSchema},
    {"CustomResourceDefinition", kDefinitionSchema},
    {"SelfSubjectReview", kSelfSubjectReviewSchema},
    {"SelfSubjectAccessReview", kAccessReviewSchema},
    {"SelfSubjectRulesReview", kRulesReviewSchema},
};

}  // namespace

std::string builtin_schema(std::string_view kind) {
  for (const auto& [name, text] : kSchemas) {
    if (name != kind) continue;
    std::string whole(text);
    for (const auto& [mark, fragment] : kFragments) {
      whole = base::replace_all(whole, mark, fragment);
    }
    return whole;
  }
  throw base::Error(base::Code::internal, "no schema of " + std::string(kind));
}

}  // namespace meridian::kubeserver::kinds
