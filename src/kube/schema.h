// Structural schemas of custom resources: validation, defaulting, pruning, unknown fields.
//
//   auto schema = parse_schema(crd_version_schema);      // Result: why it is not structural
//   apply_defaults(*schema, object);
//   auto causes = validate(*schema, object);             // 422's causes, all at once
//
// Source: Kubernetes "CustomResourceDefinitions", OpenAPI v3 subset: type, properties,
// additionalProperties, items, required, enum, default, nullable, pattern, format, minimum/maximum
// (exclusive), min/maxLength, min/maxItems, min/maxProperties, uniqueItems, multipleOf,
// allOf/anyOf/ oneOf/not, x-kubernetes-{preserve-unknown-fields, int-or-string, embedded-resource,
// list-type, list-map-keys, map-type, validations (CEL)}.
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

// The message names path and rule: "spec.versions[0].schema…properties[a]: type is required".
// CEL rules are compiled here; a rule that does not compile is an error with its text.
base::Result<Schema, std::string> parse_schema(const base::Json& open_api_v3_schema);

void apply_defaults(const Schema& schema, base::Json& object);
// Paths of members that the schema does not know ("spec.foo"), in document order. metadata,
// apiVersion and kind at the root are known.
std::vector<std::string> unknown_fields(const Schema& schema, const base::Json& object);
void prune(const Schema& schema, base::Json& object);  // removes them

// Everything that is wrong. `old_object`: for transition rules (CEL's oldSelf); null on creation.
std::vector<Cause> validate(const Schema& schema, const base::Json& object,
                            const base::Json* old_object = nullptr);

}  // namespace meridian::kube
