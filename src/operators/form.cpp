// SPDX-License-Identifier: Apache-2.0
#include "operators/form.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "operators/kinds.h"
#include "operators/pattern.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

// Where the original operator's spelling is not the API's in lower camel case.
struct Spelling {
  std::string_view shape, member, key;
};
constexpr Spelling kSpellings[] = {
    {"DataProcessing", "OutputFilter", "OutputFilter"},
    {"DataProcessing", "JoinSource", "JoinSource"},
    {"DebugHookConfig", "HookParameters", "ruleParameters"},
};

// An enumeration this long is a list of machines that grows by the month: text, checked by the
// region that has them.
constexpr std::size_t kMostValues = 40;

const Json* find_key(const JsonObject& object, const aws::Shape& shape, const aws::Member& member) {
  for (const std::string& key : keys_of(shape, member)) {
    if (const Json* found = base::find(object, key)) return found;
  }
  const std::string wanted = base::to_lower(member.name);
  for (const auto& [key, value] : object) {
    if (base::to_lower(std::string_view(key)) == wanted && !value.is_null()) return &value;
  }
  return nullptr;
}

Json map_to_api(const aws::Shape& shape, const Json& spec) {
  JsonObject map;
  if (const JsonArray* pairs = spec.if_array()) {
    for (const Json& pair : *pairs) {
      const Json* value = base::find(pair, "value");
      map[base::string_or(pair, "name")] =
          value != nullptr ? to_api(*shape.element.shape, *value) : Json("");
    }
  } else if (const JsonObject* object = spec.if_object()) {
    for (const auto& [key, value] : *object) map[key] = to_api(*shape.element.shape, value);
  }
  return map;
}

Json map_from_api(const aws::Shape& shape, const JsonObject& value) {
  JsonArray pairs;
  for (const auto& [key, item] : value) {
    pairs.push_back({{"name", key}, {"value", from_api(*shape.element.shape, item)}});
  }
  return pairs;
}

void set_bounds(JsonObject& schema, const aws::Shape& shape, std::string_view low,
                std::string_view high) {
  if (shape.min) schema[low] = static_cast<std::int64_t>(*shape.min);
  if (shape.max) schema[high] = static_cast<std::int64_t>(*shape.max);
}

JsonObject string_schema(const aws::Shape& shape) {
  JsonObject schema{{"type", "string"}};
  if (!shape.values.empty()) {
    if (shape.values.size() <= kMostValues)
      schema["enum"] = JsonArray(shape.values.begin(), shape.values.end());
    return schema;
  }
  set_bounds(schema, shape, "minLength", "maxLength");
  if (auto pattern = portable_pattern(shape.pattern)) schema["pattern"] = *pattern;
  return schema;
}

JsonObject number_schema(const aws::Shape& shape) {
  const bool whole = shape.type != aws::Type::floating;
  JsonObject schema{{"type", whole ? "integer" : "number"}};
  if (whole) schema["format"] = shape.type == aws::Type::integer ? "int32" : "int64";
  set_bounds(schema, shape, "minimum", "maximum");
  return schema;
}

JsonObject structure_schema(const aws::Shape& shape) {
  JsonObject properties;
  for (const aws::Member& member : shape.members) {
    for (const std::string& key : keys_of(shape, member)) {
      properties[key] = schema_of(*member.shape);
    }
  }
  JsonObject schema{{"type", "object"}, {"properties", std::move(properties)}};
  JsonArray required;
  for (const std::string& name : shape.required) {
    const aws::Member* member = shape.find_member(name);
    if (member != nullptr && keys_of(shape, *member).size() == 1)
      required.emplace_back(lower_first(name));
  }
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

}  // namespace

std::vector<std::string> keys_of(const aws::Shape& shape, const aws::Member& member) {
  std::vector<std::string> keys{lower_first(member.name)};
  for (const Spelling& s : kSpellings) {
    if (s.shape == shape.name && s.member == member.name) keys.emplace_back(s.key);
  }
  return keys;
}

Json to_api(const aws::Shape& shape, const Json& spec) {
  switch (shape.type) {
    case aws::Type::structure: {
      JsonObject value;
      const JsonObject* object = spec.if_object();
      if (object == nullptr) return spec;
      for (const aws::Member& member : shape.members) {
        const Json* found = find_key(*object, shape, member);
        if (found != nullptr) value[member.name] = to_api(*member.shape, *found);
      }
      return value;
    }
    case aws::Type::list: {
      const JsonArray* items = spec.if_array();
      if (items == nullptr) return spec;
      JsonArray value;
      for (const Json& item : *items) value.push_back(to_api(*shape.element.shape, item));
      return value;
    }
    case aws::Type::map: return map_to_api(shape, spec);
    default: return spec;
  }
}

Json from_api(const aws::Shape& shape, const Json& value) {
  if (shape.type == aws::Type::structure && value.is_object()) {
    JsonObject spec;
    for (const aws::Member& member : shape.members) {
      if (const Json* found = base::find(value, member.name)) {
        spec[keys_of(shape, member).front()] = from_api(*member.shape, *found);
      }
    }
    return spec;
  }
  if (shape.type == aws::Type::list && value.is_array()) {
    JsonArray spec;
    for (const Json& item : value.get_array()) spec.push_back(from_api(*shape.element.shape, item));
    return spec;
  }
  if (shape.type == aws::Type::map && value.is_object()) {
    return map_from_api(shape, value.get_object());
  }
  return value;
}

JsonObject name_value_schema(const aws::Shape& map) {
  JsonObject name =
      map.key.shape != nullptr ? schema_of(*map.key.shape) : JsonObject{{"type", "string"}};
  JsonObject schema{
      {"type", "array"},
      {"items",
       {{"type", "object"},
        {"required", {"name", "value"}},
        {"properties", {{"name", std::move(name)}, {"value", schema_of(*map.element.shape)}}}}}};
  set_bounds(schema, map, "minItems", "maxItems");
  return schema;
}

JsonObject schema_of(const aws::Shape& shape) {
  switch (shape.type) {
    case aws::Type::structure: return structure_schema(shape);
    case aws::Type::list: {
      JsonObject schema{{"type", "array"}, {"items", schema_of(*shape.element.shape)}};
      set_bounds(schema, shape, "minItems", "maxItems");
      return schema;
    }
    case aws::Type::map: return name_value_schema(shape);
    case aws::Type::integer:
    case aws::Type::long_integer:
    case aws::Type::floating: return number_schema(shape);
    case aws::Type::boolean: return {{"type", "boolean"}};
    case aws::Type::string:
    case aws::Type::blob: return string_schema(shape);
    case aws::Type::timestamp: return {{"type", "string"}, {"format", "date-time"}};
  }
  return {};
}

}  // namespace meridian::operators
