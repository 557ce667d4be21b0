// SPDX-License-Identifier: Apache-2.0
#include "run/script/python_text.h"

#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::run {
namespace {

// Shortest digits that read back, in scientific form below 1e-4 and from 1e16 on.
std::string float_text(double value) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string scientific(buffer, end.ptr);
  const std::size_t e = scientific.find('e');
  const int exponent = static_cast<int>(
      base::to_int(scientific[e + 1] == '+' ? std::string_view(scientific).substr(e + 2)
                                            : std::string_view(scientific).substr(e + 1))
          .value_or(0));
  if (exponent < -4 || exponent >= 16) return scientific;
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string text(buffer, fixed.ptr);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string quoted(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\\': out += "\\\\"; break;
      default:
        if (c == quote) out += '\\';
        out += c;
    }
  }
  return out + quote;
}

std::string list_text(const base::JsonArray& list) {
  std::string out = "[";
  for (const auto& item : list) {
    if (out.size() > 1) out += ", ";
    out += python_repr(item);
  }
  return out + "]";
}

std::string dict_text(const base::JsonObject& dict) {
  std::string out = "{";
  for (const auto& [key, value] : dict) {
    if (out.size() > 1) out += ", ";
    out += quoted(key) + ": " + python_repr(value);
  }
  return out + "}";
}

}  // namespace

std::string python_repr(const base::Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return "None";
    case boost::json::kind::bool_: return value.get_bool() ? "True" : "False";
    case boost::json::kind::int64: return std::to_string(value.get_int64());
    case boost::json::kind::uint64: return std::to_string(value.get_uint64());
    case boost::json::kind::double_: return float_text(value.get_double());
    case boost::json::kind::string: return quoted(base::view(value.get_string()));
    case boost::json::kind::array: return list_text(value.get_array());
    case boost::json::kind::object: return dict_text(value.get_object());
  }
  return "";
}

std::string python_str(const base::Json& value) {
  return value.is_string() ? std::string(base::view(value.get_string())) : python_repr(value);
}

}  // namespace meridian::run
