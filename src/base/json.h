// The one JSON value of Meridian (Boost.JSON), with bounded parsing and a number writer that prints
// 1.5 as "1.5" (Boost's prints 1.5E0).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json_fwd.h"

namespace meridian::base {

struct JsonLimits {
  std::size_t depth = 64;
  std::size_t bytes = 16u << 20;
};

// Strict RFC 8259; anything after the value is an error, and so is a number beyond a double.
Result<Json> parse_json(std::string_view text, JsonLimits limits = {});
// parse_json, or Error(data_loss) naming `what`: for documents we wrote ourselves.
Json parse_stored_json(std::string_view text, std::string_view what);

enum class JsonStyle { compact, pretty, sorted };  // sorted: compact with object keys in order
std::string to_text(const Json& value, JsonStyle style = JsonStyle::compact);
// Shortest decimal form that reads back to the same double, and as a double: 2 is "2.0". What JSON
// cannot hold is "null".
std::string number_text(double value);

// The member, or nullptr when `object` is not an object, has no such member, or it is null.
const Json* find(const Json& object, std::string_view key);
const Json* find(const JsonObject& object, std::string_view key);
// Dotted path of object members: "ResourceConfig.InstanceCount".
const Json* find_path(const Json& value, std::string_view dotted_path);
// The answer points into the value, so a temporary one is refused.
const Json* find(const Json&& object, std::string_view key) = delete;
const Json* find(const JsonObject&& object, std::string_view key) = delete;
const Json* find_path(const Json&& value, std::string_view dotted_path) = delete;

// Typed reads; the fallback when absent, of another kind, or too large.
std::string string_or(const Json& object, std::string_view key, std::string_view fallback = "");
std::int64_t int_or(const Json& object, std::string_view key, std::int64_t fallback);
double double_or(const Json& object, std::string_view key, double fallback);
bool bool_or(const Json& object, std::string_view key, bool fallback);
std::optional<std::string> find_string(const Json& object, std::string_view key);

inline std::string_view view(const boost::json::string& s) { return {s.data(), s.size()}; }

}  // namespace meridian::base
