// From openAPIV3Schema to nodes, with the rules of structural schemas.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "kube/cause.h"
#include "kube/schema.h"
#include "kube/schema_node.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using Type = SchemaNode::Type;
using ListType = SchemaNode::ListType;

constexpr int deepest = 64;
constexpr int most_nodes = 50'000;

// Where a node stands: a structural one, or one below allOf, anyOf, oneOf, not, which only narrows
// and repeats a type only to tell integers from strings.
enum class Place { structure, condition, condition_on_int_or_string };

// Ends at parse_schema.
struct Failure {
  Cause cause;
};

class Parser {
 public:
  SchemaNode::Pointer parse(const Json& schema, const std::string& path, Place place, int depth) {
    if (!schema.is_object()) {
      throw Failure{wrong_type(path, type_name(schema), "a schema is an object")};
    }
    if (depth > deepest) throw Failure{forbidden(path, "the schema is too deep")};
    if (++nodes_ > most_nodes) throw Failure{forbidden(path, "the schema is too large")};
    auto node = std::make_unique<SchemaNode>();
    refuse_forbidden(schema, path, place);
    read_flags(schema, path, *node);
    read_type(schema, path, place, *node);
    read_limits(schema, path, *node);
    read_values(schema, path, *node);
    read_object(schema, path, place, depth, *node);
    read_array(schema, path, place, depth, *node);
    read_conditions(schema, path, place, depth, *node);
    read_rules(schema, path, place, *node);
    read_default(schema, path, *node);
    return node;
  }

 private:
  static std::string at(const std::string& path, std::string_view keyword) {
    return member_path(path, keyword);
  }

  static void refuse_forbidden(const Json& schema, const std::string& path, Place place) {
    for (const char* keyword : {"$ref", "definitions", "dependencies", "patternProperties"}) {
      if (base::find(schema, keyword)) throw Failure{forbidden(at(path, keyword), "not supported")};
    }
    if (base::bool_or(schema, "uniqueItems", false)) {
      throw Failure{forbidden(at(path, "uniqueItems"), "use x-kubernetes-list-type: set")};
    }
    if (place == Place::structure) return;
    for (const char* keyword : {"type", "default", "additionalProperties", "nullable"}) {
      if (keyword == std::string_view("type") && place == Place::condition_on_int_or_string)
        continue;
      if (base::find(schema, keyword)) {
        throw Failure{forbidden(at(path, keyword), "must be undefined below a condition")};
      }
    }
  }

  static void read_flags(const Json& schema, const std::string& path, SchemaNode& node) {
    node.nullable = base::bool_or(schema, "nullable", false);
    node.preserve_unknown = base::bool_or(schema, "x-kubernetes-preserve-unknown-fields", false);
    node.int_or_string = base::bool_or(schema, "x-kubernetes-int-or-string", false);
    node.embedded_resource = base::bool_or(schema, "x-kubernetes-embedded-resource", false);
    const std::string map_type = base::string_or(schema, "x-kubernetes-map-type", "granular");
    node.atomic_map = map_type == "atomic";
    if (!node.atomic_map && map_type != "granular") {
      throw Failure{
          not_supported(at(path, "x-kubernetes-map-type"), Json(map_type), {"atomic", "granular"})};
    }
  }

  static void read_type(const Json& schema, const std::string& path, Place place,
                        SchemaNode& node) {
    static const std::vector<std::string> names = {"array",  "boolean", "integer",
                                                   "number", "object",  "string"};
    static constexpr Type types[] = {Type::array,  Type::boolean, Type::integer,
                                     Type::number, Type::object,  Type::string};
    const Json* type = base::find(schema, "type");
    if (type == nullptr) {
      if (place == Place::structure && !node.int_or_string && !node.preserve_unknown) {
        throw Failure{required_value(at(path, "type"), "must not be empty")};
      }
      return;
    }
    const auto found = std::find(names.begin(), names.end(), base::string_or(schema, "type"));
    if (found == names.end()) throw Failure{not_supported(at(path, "type"), *type, names)};
    if (node.int_or_string) {
      throw Failure{forbidden(at(path, "type"), "must be empty with x-kubernetes-int-or-string")};
    }
    node.type = types[found - names.begin()];
  }

  static std::optional<std::uint64_t> read_count(const Json& schema, const std::string& path,
                                                 std::string_view keyword) {
    const Json* value = base::find(schema, keyword);
    if (value == nullptr) return std::nullopt;
    const std::int64_t count = base::int_or(schema, keyword, -1);
    if (count < 0) {
      throw Failure{invalid_value(at(path, keyword), *value, "must be a whole number from 0")};
    }
    return static_cast<std::uint64_t>(count);
  }

  static std::optional<Json> read_number(const Json& schema, const std::string& path,
                                         std::string_view keyword) {
    const Json* value = base::find(schema, keyword);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) {
      throw Failure{wrong_type(at(path, keyword), type_name(*value), "must be a number")};
    }
    return *value;
  }

  static void read_limits(const Json& schema, const std::string& path, SchemaNode& node) {
    node.minimum = read_number(schema, path, "minimum");
    node.maximum = read_number(schema, path, "maximum");
    node.multiple_of = read_number(schema, path, "multipleOf");
    if (node.multiple_of && node.multiple_of->to_number<double>() <= 0) {
      throw Failure{invalid_value(at(path, "multipleOf"), *node.multiple_of, "must be positive")};
    }
    node.exclusive_minimum = base::bool_or(schema, "exclusiveMinimum", false);
    node.exclusive_maximum = base::bool_or(schema, "exclusiveMaximum", false);
    node.min_length = read_count(schema, path, "minLength");
    node.max_length = read_count(schema, path, "maxLength");
    node.min_items = read_count(schema, path, "minItems");
    node.max_items = read_count(schema, path, "maxItems");
    node.min_properties = read_count(schema, path, "minProperties");
    node.max_properties = read_count(schema, path, "maxProperties");
  }

  static const JsonArray* read_list(const Json& schema, const std::string& path,
                                    std::string_view keyword) {
    const Json* value = base::find(schema, keyword);
    if (value == nullptr) return nullptr;
    if (!value->is_array()) {
      throw Failure{wrong_type(at(path, keyword), type_name(*value), "must be a list")};
    }
    return &value->get_array();
  }

  static std::vector<std::string> read_texts(const Json& schema, const std::string& path,
                                             std::string_view keyword) {
    std::vector<std::string> out;
    const JsonArray* list = read_list(schema, path, keyword);
    if (list == nullptr) return out;
    for (const Json& item : *list) {
      if (!item.is_string()) {
        throw Failure{wrong_type(at(path, keyword), type_name(item), "must hold strings")};
      }
      out.emplace_back(base::view(item.get_string()));
    }
    return out;
  }

  static void read_values(const Json& schema, const std::string& path, SchemaNode& node) {
    node.format = base::string_or(schema, "format");
    if (const JsonArray* values = read_list(schema, path, "enum")) {
      node.enum_values.assign(values->begin(), values->end());
    }
    node.pattern_text = base::string_or(schema, "pattern");
    if (node.pattern_text.empty()) return;
    auto pattern = parse_regex(node.pattern_text);
    if (!pattern) {
      throw Failure{invalid_value(
          at(path, "pattern"), Json(node.pattern_text),
          "must be a valid regular expression, but isn't: " + pattern.error().text())};
    }
    node.pattern = std::move(*pattern);
  }

  void read_object(const Json& schema, const std::string& path, Place place, int depth,
                   SchemaNode& node) {
    node.required = read_texts(schema, path, "required");
    if (const Json* properties = base::find(schema, "properties")) {
      if (!properties->is_object()) {
        throw Failure{wrong_type(at(path, "properties"), type_name(*properties), "must be a map")};
      }
      for (const auto& member : properties->get_object()) {
        const std::string key(member.key());
        node.properties.emplace(
            key, parse(member.value(), fmt::format("{}[{}]", at(path, "properties"), key), place,
                       depth + 1));
      }
    }
    const Json* additional = base::find(schema, "additionalProperties");
    if (additional == nullptr) return;
    if (!node.properties.empty()) {
      throw Failure{forbidden(at(path, "additionalProperties"),
                              "additionalProperties and properties are mutual exclusive")};
    }
    if (additional->is_bool()) {
      node.additional_open = additional->get_bool();
    } else {
      node.additional = parse(*additional, at(path, "additionalProperties"), place, depth + 1);
    }
  }

  void read_array(const Json& schema, const std::string& path, Place place, int depth,
                  SchemaNode& node) {
    if (const Json* items = base::find(schema, "items")) {
      if (items->is_array()) {
        throw Failure{
            forbidden(at(path, "items"), "items must be a schema object and not an array")};
      }
      node.items = parse(*items, at(path, "items"), place, depth + 1);
    } else if (place == Place::structure && node.type == Type::array) {
      throw Failure{required_value(at(path, "items"), "must be specified")};
    }
    const std::string list_type = base::string_or(schema, "x-kubernetes-list-type", "atomic");
    node.list_map_keys = read_texts(schema, path, "x-kubernetes-list-map-keys");
    if (list_type == "set") {
      node.list_type = ListType::set;
    } else if (list_type == "map") {
      node.list_type = ListType::map;
    } else if (list_type != "atomic") {
      throw Failure{not_supported(at(path, "x-kubernetes-list-type"), Json(list_type),
                                  {"atomic", "map", "set"})};
    }
    check_list_type(path, node);
  }

  static void check_list_type(const std::string& path, const SchemaNode& node) {
    const std::string keys = at(path, "x-kubernetes-list-map-keys");
    if (node.list_type != ListType::map) {
      if (!node.list_map_keys.empty()) {
        throw Failure{forbidden(keys, "must be empty unless x-kubernetes-list-type is map")};
      }
      if (node.list_type == ListType::set && node.items && holds_parts(*node.items)) {
        throw Failure{invalid_value(at(path, "items"), Json(nullptr),
                                    "items of a list of type set are scalars or atomic")};
      }
      return;
    }
    if (node.list_map_keys.empty()) {
      throw Failure{required_value(keys, "must not be empty if x-kubernetes-list-type is map")};
    }
    for (const std::string& key : node.list_map_keys) check_map_key(keys, node, key);
  }

  static bool holds_parts(const SchemaNode& items) {
    return (items.type == Type::object && !items.atomic_map) ||
           (items.type == Type::array && items.list_type != ListType::atomic);
  }

  static void check_map_key(const std::string& path, const SchemaNode& node,
                            const std::string& key) {
    const auto found = node.items ? node.items->properties.find(key)
                                  : decltype(node.items->properties)::const_iterator();
    if (!node.items || found == node.items->properties.end()) {
      throw Failure{invalid_value(path, Json(key), "must be a property of the items")};
    }
    const auto& required = node.items->required;
    if (!found->second->default_value &&
        std::find(required.begin(), required.end(), key) == required.end()) {
      throw Failure{invalid_value(path, Json(key), "must be required or have a default")};
    }
  }

  void read_conditions(const Json& schema, const std::string& path, Place place, int depth,
                       SchemaNode& node) {
    const bool either = node.int_or_string || place == Place::condition_on_int_or_string;
    const Place below = either ? Place::condition_on_int_or_string : Place::condition;
    const auto read = [&](std::string_view keyword, std::vector<SchemaNode::Pointer>& out) {
      const JsonArray* list = read_list(schema, path, keyword);
      for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        out.push_back(
            parse((*list)[i], fmt::format("{}[{}]", at(path, keyword), i), below, depth + 1));
      }
    };
    read("allOf", node.all_of);
    read("anyOf", node.any_of);
    read("oneOf", node.one_of);
    if (const Json* none = base::find(schema, "not")) {
      node.none_of = parse(*none, at(path, "not"), below, depth + 1);
    }
  }

  void read_rules(const Json& schema, const std::string& path, Place place, SchemaNode& node) {
    const JsonArray* list = read_list(schema, path, "x-kubernetes-validations");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const std::string field = fmt::format("{}[{}]", at(path, "x-kubernetes-validations"), i);
      if (place != Place::structure) {
        throw Failure{forbidden(field, "must be undefined below a condition")};
      }
      auto rule = parse_schema_rule(node, (*list)[i], field);
      if (!rule) throw Failure{rule.error()};
      node.rules.push_back(std::move(*rule));
    }
    const auto below = [](const SchemaNode::Pointer& next) { return next && next->rules_below; };
    node.rules_below = !node.rules.empty() || below(node.additional) || below(node.items) ||
                       std::any_of(node.properties.begin(), node.properties.end(),
                                   [&](const auto& property) { return below(property.second); });
  }

  // A default is an instance of its own schema.
  static void read_default(const Json& schema, const std::string& path, SchemaNode& node) {
    const Json* value = schema.get_object().if_contains("default");
    if (value == nullptr || (value->is_null() && !node.nullable)) return;
    const std::string field = at(path, "default");
    if (path.empty()) throw Failure{forbidden(field, "must not be set at the root")};
    Json filled = *value;
    apply_node_defaults(node, filled);
    const auto causes = structural_causes(node, filled, field);
    if (!causes.empty()) throw Failure{causes.front()};
    const auto unknown = unknown_below(node, filled);
    if (!unknown.empty()) {
      throw Failure{invalid_value(field, *value, "has the unknown field " + unknown.front())};
    }
    node.default_value = *value;
  }

  int nodes_ = 0;
};

}  // namespace

Schema::Schema(std::shared_ptr<const SchemaNode> root, Json document)
    : root_(std::move(root)), document_(std::move(document)) {}

base::Result<Schema, Cause> parse_schema(const Json& document) {
  try {
    std::shared_ptr<const SchemaNode> root = Parser().parse(document, "", Place::structure, 0);
    if (root->type != Type::object) {
      return invalid_value("type", Json(name(root->type)), "must be object at the root");
    }
    return Schema(std::move(root), document);
  } catch (Failure& failure) {
    return std::move(failure.cause);
  }
}

}  // namespace meridian::kube
