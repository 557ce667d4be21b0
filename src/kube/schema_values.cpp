// What a schema does to a value: defaults, unknown members, pruning; and the small questions of
// schema_node.h.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "kube/schema.h"
#include "kube/schema_node.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonObject;
using Type = SchemaNode::Type;

constexpr std::size_t most_unknown = 1'000;

bool is_type_meta(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

// Whether members that the node does not name may stay.
bool keeps_unknown(const SchemaNode& node) { return node.preserve_unknown || node.additional_open; }

enum class Root { no, yes };

void collect_unknown(const SchemaNode& node, const Json& value, const std::string& path, Root root,
                     std::vector<std::string>& out) {
  if (out.size() >= most_unknown) return;
  if (value.is_array() && node.items) {
    const auto& array = value.get_array();
    for (std::size_t i = 0; i < array.size(); ++i) {
      collect_unknown(*node.items, array[i], item_path(path, i), Root::no, out);
    }
  }
  if (!value.is_object() || node.additional_open) return;
  const bool typed = root == Root::yes || node.embedded_resource;
  for (const auto& member : value.get_object()) {
    if (typed && is_type_meta(member.key())) continue;
    const std::string member_at = member_path(path, member.key());
    if (const SchemaNode* next = node.member(member.key())) {
      collect_unknown(*next, member.value(), member_at, Root::no, out);
    } else if (!keeps_unknown(node) && out.size() < most_unknown) {
      out.push_back(member_at);
    }
  }
}

void prune_node(const SchemaNode& node, Json& value, Root root) {
  if (value.is_array() && node.items) {
    for (Json& item : value.get_array()) prune_node(*node.items, item, Root::no);
  }
  if (!value.is_object() || node.additional_open) return;
  const bool typed = root == Root::yes || node.embedded_resource;
  JsonObject& object = value.get_object();
  std::vector<std::string> lost;
  for (auto& member : object) {
    if (typed && is_type_meta(member.key())) continue;
    if (const SchemaNode* next = node.member(member.key())) {
      prune_node(*next, member.value(), Root::no);
    } else if (!keeps_unknown(node)) {
      lost.emplace_back(member.key());
    }
  }
  if (lost.size() < 8) {
    for (const std::string& name : lost) object.stable_erase(name);
    return;
  }
  // Erasing moves what follows, so many are left out of a new object instead.
  const std::set<std::string, std::less<>> gone(lost.begin(), lost.end());
  JsonObject kept(object.storage());
  for (auto& member : object) {
    if (!gone.contains(std::string_view(member.key()))) {
      kept.emplace(member.key(), std::move(member.value()));
    }
  }
  object = std::move(kept);
}

}  // namespace

std::string_view name(Type type) {
  switch (type) {
    case Type::any: return "";
    case Type::object: return "object";
    case Type::array: return "array";
    case Type::string: return "string";
    case Type::integer: return "integer";
    case Type::number: return "number";
    case Type::boolean: return "boolean";
  }
  std::abort();
}

std::string_view type_name(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64: return "integer";
    case boost::json::kind::double_: return "number";
    case boost::json::kind::string: return "string";
    case boost::json::kind::array: return "array";
    case boost::json::kind::object: return "object";
  }
  std::abort();
}

bool has_type(const SchemaNode& node, const Json& value) {
  const auto is_integer = [&] {
    return value.is_int64() || value.is_uint64() ||
           (value.is_double() && std::trunc(value.get_double()) == value.get_double());
  };
  if (value.is_null() && node.nullable) return true;
  if (node.int_or_string) return value.is_string() || is_integer();
  switch (node.type) {
    case Type::any: return true;
    case Type::object: return value.is_object();
    case Type::array: return value.is_array();
    case Type::string: return value.is_string();
    case Type::integer: return is_integer();
    case Type::number: return value.is_number();
    case Type::boolean: return value.is_bool();
  }
  std::abort();
}

std::string member_path(const std::string& parent, std::string_view name) {
  return parent.empty() ? std::string(name) : fmt::format("{}.{}", parent, name);
}

std::string item_path(const std::string& parent, std::size_t index) {
  return fmt::format("{}[{}]", parent, index);
}

void apply_node_defaults(const SchemaNode& node, Json& value) {
  if (value.is_array() && node.items) {
    for (Json& item : value.get_array()) apply_node_defaults(*node.items, item);
  }
  if (!value.is_object()) return;
  JsonObject& object = value.get_object();
  for (const auto& [name, property] : node.properties) {
    const auto found = object.find(name);
    if (found != object.end() && (!found->value().is_null() || property->nullable)) continue;
    if (property->default_value) {
      object[name] = *property->default_value;
    } else if (found != object.end()) {
      object.stable_erase(found);
    }
  }
  for (auto& member : object) {
    if (const SchemaNode* next = node.member(member.key())) {
      apply_node_defaults(*next, member.value());
    }
  }
}

std::vector<std::string> unknown_below(const SchemaNode& node, const Json& value) {
  std::vector<std::string> out;
  collect_unknown(node, value, "", Root::no, out);
  return out;
}

void apply_defaults(const Schema& schema, Json& object) {
  apply_node_defaults(schema.root(), object);
}

std::vector<std::string> unknown_fields(const Schema& schema, const Json& object) {
  std::vector<std::string> out;
  collect_unknown(schema.root(), object, "", Root::yes, out);
  return out;
}

void prune(const Schema& schema, Json& object) { prune_node(schema.root(), object, Root::yes); }

}  // namespace meridian::kube
