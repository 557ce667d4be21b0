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

// Where a value stands. Spelled out only when there is something to say about it.
struct Where {
  const Where* outer = nullptr;  // nullptr: the input itself
  std::string_view name;         // of the member, or key of the map
  enum class Kind { member, element, value } kind = Kind::member;
  std::size_t number = 0;  // of the element, from 1

  std::string path() const {  // as AWS's messages have it: "inputDataConfig.1.member.channelName"
    if (!outer) return "";
    if (kind == Kind::member) return joined(outer->path(), lower_camel(name));
    return kind == Kind::element ? fmt::format("{}.{}.member", outer->path(), number)
                                 : fmt::format("{}.{}.member", outer->path(), name);
  }
  std::string field() const {  // as the API spells it: "InputDataConfig[0].ChannelName"
    if (!outer) return "";
    if (kind == Kind::element) return fmt::format("{}[{}]", outer->field(), number - 1);
    return joined(outer->field(), name);
  }
};

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

[[noreturn]] void refuse_type(const Shape& shape, const Json& value, const Where& where) {
  const std::string path = where.path();
  throw ApiError("SerializationException",
                 fmt::format("{} can not be converted to {} at '{}'", token_name(value),
                             type_name(shape.type), path.empty() ? "(the request body)" : path));
}

void take_integer(const Shape& shape, Json& value, const Where& where) {
  if (value.is_uint64()) refuse_type(shape, value, where);
  if (value.is_double()) {  // 10.0 is ten
    const double number = value.get_double();
    if (std::floor(number) != number || std::abs(number) > 9e15) refuse_type(shape, value, where);
    value = static_cast<std::int64_t>(number);
  }
  if (!value.is_int64()) refuse_type(shape, value, where);
  const auto number = value.get_int64();
  if (shape.type == Type::integer && (number > 2'147'483'647 || number < -2'147'483'648LL)) {
    refuse_type(shape, value, where);
  }
}

void take_timestamp(const Shape& shape, Json& value, const Where& where) {
  if (value.is_number()) return;
  if (!value.is_string()) refuse_type(shape, value, where);
  const auto text = base::view(value.get_string());
  if (const auto number = base::to_double(text)) {
    value = *number;
  } else if (const auto iso = base::parse_iso8601(text)) {
    value = iso->seconds();
  } else if (const auto http = base::parse_http_date(text)) {
    value = http->seconds();
  } else {
    refuse_type(shape, value, where);
  }
}

void take_floating(const Shape& shape, Json& value, const Where& where) {
  if (value.is_number()) return;
  if (!value.is_string()) refuse_type(shape, value, where);
  const auto text = base::view(value.get_string());  // JSON has no literals for these
  if (text != "NaN" && text != "Infinity" && text != "-Infinity") refuse_type(shape, value, where);
  throw ApiError("ValidationException",
                 fmt::format("Value '{}' at '{}' is not a number", text, where.path()));
}

// Brings a scalar to the form that handlers see.
void take_scalar(const Shape& shape, Json& value, const Where& where) {
  switch (shape.type) {
    case Type::string:
      if (!value.is_string()) refuse_type(shape, value, where);
      break;
    case Type::blob:
      if (!value.is_string() || !base::unbase64(base::view(value.get_string()))) {
        refuse_type(shape, value, where);
      }
      break;
    case Type::boolean:
      if (!value.is_bool()) refuse_type(shape, value, where);
      break;
    case Type::timestamp: take_timestamp(shape, value, where); break;
    case Type::floating: take_floating(shape, value, where); break;
    default: take_integer(shape, value, where);
  }
}

class Inspector {
 public:
  void structure(const Shape& shape, JsonObject& object, const Where& where) {
    for (const auto& member : shape.members) {
      Json* value = object.if_contains(member.name);
      if (value && value->is_null()) {
        object.erase(member.name);
        value = nullptr;
      }
      const Where inner{&where, member.name};
      if (value) {
        take(*member.shape, *value, inner);
      } else if (is_required(shape, member.name)) {
        violate_null(inner);
      }
    }
    collect_unknown(shape, object, where);
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
  void violate_null(const Where& where) {
    violate(fmt::format("Value null at '{}' failed to satisfy constraint: Member must not be null",
                        where.path()));
  }
  void violate_value(const Json& value, const Where& where, const std::string& constraint) {
    violate(fmt::format("Value '{}' at '{}' failed to satisfy constraint: {}", shown(value),
                        where.path(), constraint));
  }

  void take(const Shape& shape, Json& value, const Where& where) {
    switch (shape.type) {
      case Type::structure:
        if (!value.is_object()) refuse_type(shape, value, where);
        structure(shape, value.get_object(), where);
        return;
      case Type::list:
        if (!value.is_array()) refuse_type(shape, value, where);
        break;
      case Type::map:
        if (!value.is_object()) refuse_type(shape, value, where);
        break;
      default: take_scalar(shape, value, where);
    }
    for (const auto& broken : broken_constraints(shape, value)) violate_value(value, where, broken);
    if (shape.type == Type::list) take_list(shape, value, where);
    if (shape.type == Type::map) take_map(shape, value, where);
  }

  void take_list(const Shape& shape, Json& list, const Where& where) {
    const Shape& element = *shape.element.shape;
    std::size_t number = 0;
    bool broken = false;
    for (Json& item : list.get_array()) {
      const Where inner{&where, "", Where::Kind::element, ++number};
      if (item.is_null()) {
        violate_null(inner);
      } else if (is_scalar(element)) {
        take_scalar(element, item, inner);
        broken = broken || !broken_constraints(element, item).empty();
      } else {
        take(element, item, inner);
      }
    }
    if (!broken) return;
    violate_value(list, where,
                  fmt::format("Member must satisfy constraint: [{}]",
                              base::join(all_constraints(element), ", ")));
  }

  void take_map(const Shape& shape, Json& map, const Where& where) {
    const Shape& element = *shape.element.shape;
    bool broken_key = false, broken_value = false;
    for (auto& [key, item] : map.get_object()) {
      broken_key = broken_key || !broken_constraints(*shape.key.shape, Json(key)).empty();
      const Where inner{&where, {key.data(), key.size()}, Where::Kind::value};
      if (item.is_null()) {
        violate_null(inner);
      } else if (is_scalar(element)) {
        take_scalar(element, item, inner);
        broken_value = broken_value || !broken_constraints(element, item).empty();
      } else {
        take(element, item, inner);
      }
    }
    if (broken_key) {
      violate_value(map, where,
                    fmt::format("Map keys must satisfy constraint: [{}]",
                                base::join(all_constraints(*shape.key.shape), ", ")));
    }
    if (broken_value) {
      violate_value(map, where,
                    fmt::format("Map value must satisfy constraint: [{}]",
                                base::join(all_constraints(element), ", ")));
    }
  }

  void collect_unknown(const Shape& shape, const JsonObject& object, const Where& where) {
    if (object.size() <= shape.members.size() && unknown_.size() >= max_violations) return;
    for (const auto& [key, value] : object) {
      const std::string_view name(key.data(), key.size());
      if (!shape.find_member(name) && unknown_.size() < max_violations) {
        unknown_.push_back(Where{&where, name}.field());
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
  inspector.structure(operation.input ? *operation.input : nothing, input, Where{});
  return inspector.finish();
}

}  // namespace meridian::aws
