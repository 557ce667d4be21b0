// SPDX-License-Identifier: Apache-2.0
//
// Input against the API model: every violation at once, worded as AWS words it, because clients
// show the text verbatim and scripts look for pieces of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aws/constraints.h"
#include "aws/model.h"
#include "aws/service.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

using base::Json;
using base::JsonObject;

constexpr std::size_t max_violations = 100;

// "TrainingJobName" → "trainingJobName".
std::string lower_camel(std::string_view name) {
  std::string out(name);
  if (!out.empty() && out[0] >= 'A' && out[0] <= 'Z') out[0] = static_cast<char>(out[0] + 32);
  return out;
}

std::string joined(const std::string& path, std::string_view part) {
  return path.empty() ? std::string(part) : path + "." + std::string(part);
}

bool is_scalar(const Shape& shape) {
  return shape.type != Type::structure && shape.type != Type::list && shape.type != Type::map;
}

std::string_view token_name(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::string: return "STRING_VALUE";
    case boost::json::kind::bool_: return value.get_bool() ? "TRUE_VALUE" : "FALSE_VALUE";
    case boost::json::kind::array: return "START_ARRAY";
    case boost::json::kind::object: return "START_OBJECT";
    case boost::json::kind::null: return "NULL_VALUE";
    case boost::json::kind::double_: return "DECIMAL_VALUE";
    default: return "NUMBER_VALUE";
  }
}

std::string_view type_name(Type type) {
  switch (type) {
    case Type::structure: return "Structure";
    case Type::list: return "List";
    case Type::map: return "Map";
    case Type::string: return "String";
    case Type::integer: return "Integer";
    case Type::long_integer: return "Long";
    case Type::floating: return "Double";
    case Type::boolean: return "Boolean";
    case Type::timestamp: return "Timestamp";
    case Type::blob: return "Blob";
  }
  return "Value";
}

[[noreturn]] void refuse_type(const Shape& shape, const Json& value, const std::string& path) {
  throw ApiError("SerializationException",
                 fmt::format("{} can not be converted to {} at '{}'", token_name(value),
                             type_name(shape.type), path.empty() ? "(the request body)" : path));
}

void take_integer(const Shape& shape, Json& value, const std::string& path) {
  if (value.is_uint64()) refuse_type(shape, value, path);
  if (value.is_double()) {  // 10.0 is ten
    const double number = value.get_double();
    if (std::floor(number) != number || std::abs(number) > 9e15) refuse_type(shape, value, path);
    value = static_cast<std::int64_t>(number);
  }
  if (!value.is_int64()) refuse_type(shape, value, path);
  const auto number = value.get_int64();
  if (shape.type == Type::integer && (number > 2'147'483'647 || number < -2'147'483'648LL)) {
    refuse_type(shape, value, path);
  }
}

void take_timestamp(const Shape& shape, Json& value, const std::string& path) {
  if (value.is_number()) return;
  if (!value.is_string()) refuse_type(shape, value, path);
  const auto text = base::view(value.get_string());
  if (const auto number = base::to_double(text)) {
    value = *number;
  } else if (const auto iso = base::parse_iso8601(text)) {
    value = iso->seconds();
  } else if (const auto http = base::parse_http_date(text)) {
    value = http->seconds();
  } else {
    refuse_type(shape, value, path);
  }
}

void take_floating(const Shape& shape, Json& value, const std::string& path) {
  if (value.is_number()) return;
  if (!value.is_string()) refuse_type(shape, value, path);
  const auto text = base::view(value.get_string());  // JSON has no literals for these
  if (text != "NaN" && text != "Infinity" && text != "-Infinity") refuse_type(shape, value, path);
  throw ApiError("ValidationException",
                 fmt::format("Value '{}' at '{}' is not a number", text, path));
}

// Brings a scalar to the form that handlers see.
void take_scalar(const Shape& shape, Json& value, const std::string& path) {
  switch (shape.type) {
    case Type::string:
      if (!value.is_string()) refuse_type(shape, value, path);
      break;
    case Type::blob:
      if (!value.is_string() || !base::unbase64(base::view(value.get_string()))) {
        refuse_type(shape, value, path);
      }
      break;
    case Type::boolean:
      if (!value.is_bool()) refuse_type(shape, value, path);
      break;
    case Type::timestamp: take_timestamp(shape, value, path); break;
    case Type::floating: take_floating(shape, value, path); break;
    default: take_integer(shape, value, path);
  }
}

class Inspector {
 public:
  void structure(const Shape& shape, JsonObject& object, const std::string& path,
                 const std::string& field) {
    for (const auto& member : shape.members) {
      const std::string member_path = joined(path, lower_camel(member.name));
      Json* value = object.if_contains(member.name);
      if (value && value->is_null()) {
        object.erase(member.name);
        value = nullptr;
      }
      if (value) {
        take(*member.shape, *value, member_path, joined(field, member.name));
      } else if (is_required(shape, member.name)) {
        violate_null(member_path);
      }
    }
    collect_unknown(shape, object, field);
  }

  Inspection finish() {
    Inspection out;
    out.unknown_fields = std::move(unknown_);
    if (violations_.empty()) return out;
    out.message = fmt::format("{} validation error{} detected: {}", violations_.size(),
                              violations_.size() == 1 ? "" : "s", base::join(violations_, "; "));
    return out;
  }

 private:
  static bool is_required(const Shape& shape, const std::string& name) {
    return std::find(shape.required.begin(), shape.required.end(), name) != shape.required.end();
  }

  void violate(std::string text) {
    if (violations_.size() < max_violations) violations_.push_back(std::move(text));
  }
  void violate_null(const std::string& path) {
    violate(fmt::format("Value null at '{}' failed to satisfy constraint: Member must not be null",
                        path));
  }
  void violate_value(const Json& value, const std::string& path, const std::string& constraint) {
    violate(fmt::format("Value '{}' at '{}' failed to satisfy constraint: {}", shown(value), path,
                        constraint));
  }

  void take(const Shape& shape, Json& value, const std::string& path, const std::string& field) {
    switch (shape.type) {
      case Type::structure:
        if (!value.is_object()) refuse_type(shape, value, path);
        structure(shape, value.get_object(), path, field);
        return;
      case Type::list:
        if (!value.is_array()) refuse_type(shape, value, path);
        break;
      case Type::map:
        if (!value.is_object()) refuse_type(shape, value, path);
        break;
      default: take_scalar(shape, value, path);
    }
    for (const auto& broken : broken_constraints(shape, value)) violate_value(value, path, broken);
    if (shape.type == Type::list) take_list(shape, value, path, field);
    if (shape.type == Type::map) take_map(shape, value, path, field);
  }

  void take_list(const Shape& shape, Json& list, const std::string& path,
                 const std::string& field) {
    const Shape& element = *shape.element.shape;
    std::size_t number = 0;
    bool broken = false;
    for (Json& item : list.get_array()) {
      ++number;
      const std::string item_path = fmt::format("{}.{}.member", path, number);
      if (item.is_null()) {
        violate_null(item_path);
      } else if (is_scalar(element)) {
        take_scalar(element, item, item_path);
        broken = broken || !broken_constraints(element, item).empty();
      } else {
        take(element, item, item_path, fmt::format("{}[{}]", field, number - 1));
      }
    }
    if (!broken) return;
    violate_value(list, path,
                  fmt::format("Member must satisfy constraint: [{}]",
                              base::join(all_constraints(element), ", ")));
  }

  void take_map(const Shape& shape, Json& map, const std::string& path, const std::string& field) {
    const Shape& element = *shape.element.shape;
    bool broken_key = false, broken_value = false;
    for (auto& [key, item] : map.get_object()) {
      const std::string name(key);
      broken_key = broken_key || !broken_constraints(*shape.key.shape, Json(key)).empty();
      const std::string item_path = fmt::format("{}.{}.member", path, name);
      if (item.is_null()) {
        violate_null(item_path);
      } else if (is_scalar(element)) {
        take_scalar(element, item, item_path);
        broken_value = broken_value || !broken_constraints(element, item).empty();
      } else {
        take(element, item, item_path, joined(field, name));
      }
    }
    if (broken_key) {
      violate_value(map, path,
                    fmt::format("Map keys must satisfy constraint: [{}]",
                                base::join(all_constraints(*shape.key.shape), ", ")));
    }
    if (broken_value) {
      violate_value(map, path,
                    fmt::format("Map value must satisfy constraint: [{}]",
                                base::join(all_constraints(element), ", ")));
    }
  }

  void collect_unknown(const Shape& shape, const JsonObject& object, const std::string& field) {
    if (object.size() <= shape.members.size() && unknown_.size() >= max_violations) return;
    for (const auto& [key, value] : object) {
      const std::string_view name(key.data(), key.size());
      if (!shape.find_member(name) && unknown_.size() < max_violations) {
        unknown_.push_back(joined(field, name));
      }
    }
  }

  std::vector<std::string> violations_;
  std::vector<std::string> unknown_;
};

}  // namespace

Inspection inspect(const Operation& operation, base::JsonObject& input) {
  Inspector inspector;
  static const Shape nothing;
  inspector.structure(operation.input ? *operation.input : nothing, input, "", "");
  return inspector.finish();
}

}  // namespace meridian::aws
