// The table of functions, and those that convert.
//
// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/functions.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/json.h"
#include "base/strings.h"
#include "kube/cel/duration.h"
#include "kube/cel/instant.h"
#include "kube/cel/utf8.h"

namespace meridian::kube::cel {
namespace {

using Arguments = std::span<const Value>;

Value range_error(std::string_view type) {
  return fail(fmt::format("range error converting to {}", type));
}

Value to_int(Arguments arguments, Meter&) {
  const Value& value = arguments[0];
  if (value.as<std::int64_t>() != nullptr) return value;
  if (const auto* number = value.as<std::uint64_t>()) {
    return *number <= INT64_MAX ? Value{static_cast<std::int64_t>(*number)} : range_error("int");
  }
  if (const auto* number = value.as<double>()) {
    const bool fits = *number > -0x1p63 && *number < 0x1p63;
    return fits ? Value{static_cast<std::int64_t>(*number)} : range_error("int");
  }
  if (const auto* text = value.as<std::string>()) {
    const auto parsed = base::to_int(*text);
    return parsed ? Value{*parsed} : fail(fmt::format("'{}' is no int", *text));
  }
  if (const auto* instant = value.as<Instant>()) return {instant->seconds};
  return no_overload("int", value);
}

Value to_uint(Arguments arguments, Meter&) {
  const Value& value = arguments[0];
  if (value.as<std::uint64_t>() != nullptr) return value;
  if (const auto* number = value.as<std::int64_t>()) {
    return *number >= 0 ? Value{static_cast<std::uint64_t>(*number)} : range_error("uint");
  }
  if (const auto* number = value.as<double>()) {
    const bool fits = *number >= 0 && *number < 0x1p64;
    return fits ? Value{static_cast<std::uint64_t>(*number)} : range_error("uint");
  }
  if (const auto* text = value.as<std::string>()) {
    const auto parsed = base::to_uint(*text);
    return parsed ? Value{*parsed} : fail(fmt::format("'{}' is no uint", *text));
  }
  return no_overload("uint", value);
}

Value to_double(Arguments arguments, Meter&) {
  const Value& value = arguments[0];
  if (value.as<double>() != nullptr) return value;
  if (const auto* number = value.as<std::int64_t>()) return {static_cast<double>(*number)};
  if (const auto* number = value.as<std::uint64_t>()) return {static_cast<double>(*number)};
  if (const auto* text = value.as<std::string>()) {
    const auto parsed = base::to_double(*text);
    return parsed ? Value{*parsed} : fail(fmt::format("'{}' is no double", *text));
  }
  return no_overload("double", value);
}

Value to_string(Arguments arguments, Meter& meter) {
  const Value& value = arguments[0];
  if (value.as<std::string>() != nullptr) return value;
  if (const auto* bytes = value.as<Bytes>()) {
    meter.spend_on(bytes->text);
    return base::is_valid_utf8(bytes->text) ? make_text(bytes->text)
                                            : fail("the bytes are no UTF-8");
  }
  if (const auto* number = value.as<double>()) {
    return make_text(fmt::format("{}", *number));
  }
  const bool scalar = value.numeric() || value.as<bool>() != nullptr;
  const bool time = value.as<Duration>() != nullptr || value.as<Instant>() != nullptr;
  if (!scalar && !time) return no_overload("string", value);
  const auto json = to_json(value);
  return make_text(json->is_string() ? std::string(base::view(json->get_string()))
                                     : base::to_text(*json));
}

Value to_bytes(Arguments arguments, Meter& meter) {
  const Value& value = arguments[0];
  if (value.as<Bytes>() != nullptr) return value;
  const auto* text = value.as<std::string>();
  if (text == nullptr) return no_overload("bytes", value);
  meter.spend_on(*text);
  return {Bytes{*text}};
}

Value to_bool(Arguments arguments, Meter&) {
  const Value& value = arguments[0];
  if (value.as<bool>() != nullptr) return value;
  const auto* text = value.as<std::string>();
  if (text == nullptr) return no_overload("bool", value);
  for (const char* yes : {"true", "True", "TRUE", "t", "1"}) {
    if (*text == yes) return {true};
  }
  for (const char* no : {"false", "False", "FALSE", "f", "0"}) {
    if (*text == no) return {false};
  }
  return fail(fmt::format("'{}' is no bool", *text));
}

Value to_duration(Arguments arguments, Meter&) {
  const Value& value = arguments[0];
  if (value.as<Duration>() != nullptr) return value;
  const auto* text = value.as<std::string>();
  if (text == nullptr) return no_overload("duration", value);
  const auto parsed = parse_duration(*text);
  return parsed ? Value{Duration{parsed->count()}}
                : fail(fmt::format("'{}' is no duration", *text));
}

Value to_timestamp(Arguments arguments, Meter&) {
  const Value& value = arguments[0];
  if (value.as<Instant>() != nullptr) return value;
  if (const auto* seconds = value.as<std::int64_t>()) {
    const auto instant = plus({*seconds, 0}, 0);
    return instant ? Value{*instant} : range_error("timestamp");
  }
  const auto* text = value.as<std::string>();
  if (text == nullptr) return no_overload("timestamp", value);
  const auto parsed = parse_instant(*text);
  return parsed ? Value{*parsed} : fail(fmt::format("'{}' is no timestamp", *text));
}

Value size(Arguments arguments, Meter& meter) {
  const Value& value = arguments[0];
  if (is_list(value) || is_map(value)) return {static_cast<std::int64_t>(size_of(value))};
  if (const auto* bytes = value.as<Bytes>()) return {static_cast<std::int64_t>(bytes->text.size())};
  const auto* text = value.as<std::string>();
  if (text == nullptr) return no_overload("size", value);
  meter.spend_on(*text);
  return {static_cast<std::int64_t>(to_code_points(*text).size())};
}

constexpr Function table[] = {
    {"int", Form::global, 1, 1, to_int},
    {"uint", Form::global, 1, 1, to_uint},
    {"double", Form::global, 1, 1, to_double},
    {"string", Form::global, 1, 1, to_string},
    {"bytes", Form::global, 1, 1, to_bytes},
    {"bool", Form::global, 1, 1, to_bool},
    {"duration", Form::global, 1, 1, to_duration},
    {"timestamp", Form::global, 1, 1, to_timestamp},
    {"dyn", Form::global, 1, 1, [](Arguments arguments, Meter&) { return arguments[0]; }},
    {"type", Form::global, 1, 1,
     [](Arguments arguments, Meter&) { return Value{TypeName{type_of(arguments[0])}}; }},
    {"size", Form::global, 1, 1, size},
    {"size", Form::method, 1, 1, size},
};

}  // namespace

std::span<const Function> conversion_functions() { return table; }

const Function* find_function(std::string_view name, Form form) {
  for (const auto functions :
       {conversion_functions(), string_functions(), list_functions(), time_functions()}) {
    for (const Function& function : functions) {
      if (function.name == name && function.form == form) return &function;
    }
  }
  return nullptr;
}

}  // namespace meridian::kube::cel
