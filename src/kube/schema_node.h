// One node of a structural schema, as schema_parse.cpp leaves it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/cel/cel.h"
#include "kube/cel/regex.h"
#include "kube/status.h"

namespace meridian::kube {

// One of x-kubernetes-validations.
struct SchemaRule {
  CelProgram program;
  std::string text, message;
  std::optional<CelProgram> message_expression;
  std::string reason;      // of the cause
  std::string field_path;  // of the field to blame, below the node: ".a.b"
};

struct SchemaNode {
  using Pointer = std::unique_ptr<const SchemaNode>;

  enum class Type { any, object, array, string, integer, number, boolean } type = Type::any;
  bool nullable = false;
  bool preserve_unknown = false;
  bool int_or_string = false;
  bool embedded_resource = false;

  std::map<std::string, Pointer, std::less<>> properties;
  Pointer additional;            // the schema of other members
  bool additional_open = false;  // additionalProperties: true
  Pointer items;
  std::vector<std::string> required;

  enum class ListType { atomic, set, map } list_type = ListType::atomic;
  std::vector<std::string> list_map_keys;
  bool atomic_map = false;  // x-kubernetes-map-type: atomic

  std::optional<base::Json> default_value;
  std::vector<base::Json> enum_values;
  std::string format;
  std::string pattern_text;
  std::optional<Regex> pattern;
  std::optional<base::Json> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false;
  std::optional<std::uint64_t> min_length, max_length, min_items, max_items, min_properties,
      max_properties;
  std::vector<Pointer> all_of, any_of, one_of;
  Pointer none_of;  // not
  std::vector<SchemaRule> rules;
  bool rules_below = false;  // here or further down

  // The schema of a member; null when it is not known.
  const SchemaNode* member(std::string_view name) const {
    const auto found = properties.find(name);
    return found != properties.end() ? found->second.get() : additional.get();
  }
};

std::string_view name(SchemaNode::Type type);  // "integer"
// "object", "array", "string", "integer", "number", "boolean", "null".
std::string_view type_name(const base::Json& value);
// Whether the value is of the node's type, null and int-or-string included.
bool has_type(const SchemaNode& node, const base::Json& value);

// "parent.name", "name" at the root.
std::string member_path(const std::string& parent, std::string_view name);
std::string item_path(const std::string& parent, std::size_t index);

// Whether `text` has this format; true for formats that are not checked.
bool has_format(std::string_view format, std::string_view text);

// What is wrong with `value` as an instance of `node`, named from `path`; without CEL rules.
std::vector<Cause> structural_causes(const SchemaNode& node, const base::Json& value,
                                     const std::string& path);
// A rule of `node`, whose properties and items are there already. `field` names it in causes.
base::Result<SchemaRule, Cause> parse_schema_rule(const SchemaNode& node, const base::Json& rule,
                                                  const std::string& field);
// What the rules of `node` and below say of a value that is structurally right. `old` may be null;
// `budget` is for all rules together.
std::vector<Cause> rule_causes(const SchemaNode& node, const base::Json& value,
                               const base::Json* old, const std::string& path,
                               CelBudget budget = {.steps = 10'000'000});
// apply_defaults and unknown_fields below one node; the root's metadata has no part in them.
void apply_node_defaults(const SchemaNode& node, base::Json& value);
std::vector<std::string> unknown_below(const SchemaNode& node, const base::Json& value);

}  // namespace meridian::kube
