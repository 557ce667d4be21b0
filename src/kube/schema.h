// Structural schemas of custom resources: validation, defaulting, pruning, unknown fields.
//
//   auto schema = parse_schema(crd_version_schema);      // Result: why it is not structural
//   apply_defaults(*schema, object);
//   auto causes = validate(*schema, object);             // 422's causes, all at once
//
// Keywords: type, properties, additionalProperties, items, required, enum, default, nullable,
// pattern, format, minimum/maximum (exclusive), multipleOf, min/maxLength, min/maxItems,
// min/maxProperties, allOf/anyOf/oneOf/not, x-kubernetes-{preserve-unknown-fields, int-or-string,
// embedded-resource, list-type, list-map-keys, map-type, validations (CEL)}. $ref, definitions,
// dependencies, patternProperties and uniqueItems: true are refused, as Kubernetes refuses them.
// Formats that are checked: date, date-time, duration, byte, uuid, ipv4, ipv6, cidr, hostname,
// email, uri; others say nothing.
//
// Source: Kubernetes "CustomResourceDefinitions"; OpenAPI 3.0 schema objects. Messages follow
// kube-apiserver's.
//
// A schema is immutable after parsing; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "kube/status.h"

namespace meridian::kube {

struct SchemaNode;  // kube/schema_node.h

class Schema {
 public:
  explicit Schema(std::shared_ptr<const SchemaNode> root, base::Json document);
  const SchemaNode& root() const { return *root_; }
  const base::Json& document() const { return document_; }  // openAPIV3Schema as it was given

 private:
  std::shared_ptr<const SchemaNode> root_;
  base::Json document_;
};

// The cause's field is the path within the schema: "properties[spec].properties[a].type". CEL rules
// are compiled here; one that does not compile is a cause. Bounded: depth 64, 50,000 nodes.
base::Result<Schema, Cause> parse_schema(const base::Json& open_api_v3_schema);

// Members that are absent get their default; nulls that the schema does not allow go first.
void apply_defaults(const Schema& schema, base::Json& object);
// Paths of members that the schema does not know ("spec.foo", "spec.list[0].bar"), in document
// order, at most 1,000. metadata, apiVersion and kind at the root are known.
std::vector<std::string> unknown_fields(const Schema& schema, const base::Json& object);
void prune(const Schema& schema, base::Json& object);  // removes them

// Everything that is wrong, at most 100 causes. `old_object`: for transition rules (CEL's oldSelf);
// null on creation. Rules run when the rest is right.
std::vector<Cause> validate(const Schema& schema, const base::Json& object,
                            const base::Json* old_object = nullptr);

}  // namespace meridian::kube
