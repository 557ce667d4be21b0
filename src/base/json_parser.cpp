// parse_json: Boost.JSON's parser with a handler of our own, because Boost 1.81 reads some numbers
// one unit in the last place wrong and takes 1e400 for infinity.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/json.h"

namespace meridian::base {
namespace {

namespace json = boost::json;
using ErrorCode = boost::system::error_code;
using Text = json::string_view;

// The double nearest to `text`, which is a number of JSON; infinite when out of range.
double exact_double(const std::string& text) {
  double value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec == std::errc()) return value;
  return std::strtod(text.c_str(), nullptr);  // from_chars leaves both ends of the range open
}

// Builds the value from the parser's events; strings and numbers may come in parts.
class Builder {
 public:
  static constexpr std::size_t max_object_size = SIZE_MAX;
  static constexpr std::size_t max_array_size = SIZE_MAX;
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  Json release() { return stack_.release(); }

  bool on_document_begin(ErrorCode&) { return stack_.reset(), true; }
  bool on_document_end(ErrorCode&) { return true; }
  bool on_object_begin(ErrorCode&) { return true; }
  bool on_object_end(std::size_t n, ErrorCode&) { return stack_.push_object(n), true; }
  bool on_array_begin(ErrorCode&) { return true; }
  bool on_array_end(std::size_t n, ErrorCode&) { return stack_.push_array(n), true; }
  bool on_key_part(Text s, std::size_t, ErrorCode&) { return stack_.push_chars(s), true; }
  bool on_key(Text s, std::size_t, ErrorCode&) { return stack_.push_key(s), true; }
  bool on_string_part(Text s, std::size_t, ErrorCode&) { return stack_.push_chars(s), true; }
  bool on_string(Text s, std::size_t, ErrorCode&) { return stack_.push_string(s), true; }
  bool on_number_part(Text s, ErrorCode&) { return number_.append(s.data(), s.size()), true; }
  bool on_int64(std::int64_t i, Text, ErrorCode&) {
    number_.clear();
    return stack_.push_int64(i), true;
  }
  bool on_uint64(std::uint64_t u, Text, ErrorCode&) {
    number_.clear();
    return stack_.push_uint64(u), true;
  }
  bool on_double(double, Text s, ErrorCode& ec) {
    number_.append(s.data(), s.size());
    const double value = exact_double(number_);
    number_.clear();
    if (!std::isfinite(value)) {
      ec = json::error::exponent_overflow;
      return false;
    }
    return stack_.push_double(value), true;
  }
  bool on_bool(bool b, ErrorCode&) { return stack_.push_bool(b), true; }
  bool on_null(ErrorCode&) { return stack_.push_null(), true; }
  bool on_comment_part(Text, ErrorCode&) { return true; }
  bool on_comment(Text, ErrorCode&) { return true; }

 private:
  json::value_stack stack_;
  std::string number_;
};

ParseError located(std::string_view text, std::size_t offset, std::string message) {
  ParseError e{std::move(message), offset, 1, 1};
  for (std::size_t i = 0; i < offset && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++e.line;
      e.column = 1;
    } else {
      ++e.column;
    }
  }
  return e;
}

}  // namespace

Result<Json> parse_json(std::string_view text, JsonLimits limits) {
  if (text.size() > limits.bytes) {
    return ParseError{
        fmt::format("JSON of {} bytes; at most {} are allowed", text.size(), limits.bytes)};
  }
  json::parse_options options;
  options.max_depth = limits.depth;
  json::basic_parser<Builder> parser(options);
  ErrorCode ec;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), ec);
  if (ec) return located(text, used, "not valid JSON: " + ec.message());
  const auto rest = text.find_first_not_of(" \t\r\n", used);
  if (rest != std::string_view::npos) {
    return located(text, rest, "unexpected text after the JSON value");
  }
  return parser.handler().release();
}

}  // namespace meridian::base
