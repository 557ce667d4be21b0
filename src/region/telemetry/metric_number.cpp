// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/metric_number.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "base/strings.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::size_t longest_number = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_sign(char c) { return c == '+' || c == '-'; }

std::optional<double> special_value(std::string_view text) {
  double sign = 1;
  if (!text.empty() && is_sign(text[0])) {
    if (text[0] == '-') sign = -1;
    text.remove_prefix(1);
  }
  if (base::equals_ignoring_case(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  if (base::equals_ignoring_case(text, "inf") || base::equals_ignoring_case(text, "infinity"))
    return sign * std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// Bytes of a number without sign that starts at `text`: digits, fraction, exponent.
std::size_t unsigned_length(std::string_view text) {
  std::size_t at = 0, digits = 0;
  while (at < text.size() && is_digit(text[at])) ++at, ++digits;
  if (at < text.size() && text[at] == '.') {
    std::size_t fraction = at + 1;
    while (fraction < text.size() && is_digit(text[fraction])) ++fraction;
    const std::size_t count = fraction - at - 1;
    if (count > 0) {  // a full stop alone belongs to the sentence
      digits += count;
      at = fraction;
    }
  }
  if (digits == 0) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (exponent < text.size() && is_sign(text[exponent])) ++exponent;
    const std::size_t first = exponent;
    while (exponent < text.size() && is_digit(text[exponent])) ++exponent;
    if (exponent > first) at = exponent;
  }
  return at;
}

std::optional<double> plain_value(std::string_view text) {
  std::string_view digits = text;
  if (!digits.empty() && is_sign(digits[0])) digits.remove_prefix(1);
  if (digits.empty() || !(is_digit(digits[0]) || digits[0] == '.')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const std::size_t exponent = digits.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos && digits[exponent + 1] == '-';
    value = tiny ? 0 : std::numeric_limits<double>::infinity();
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  return text[0] == '-' ? -value : value;
}

}  // namespace

std::optional<double> parse_metric_number(std::string_view text) {
  text = base::trim(text);
  if (text.empty()) return std::nullopt;
  if (auto special = special_value(text)) return special;
  if (auto value = plain_value(text)) return value;
  if (text.back() == '.') return plain_value(text.substr(0, text.size() - 1));
  return std::nullopt;
}

std::string_view number_around(std::string_view line, std::size_t begin, std::size_t end) {
  while (begin < end && !is_digit(line[begin]) && line[begin] != '.' && !is_sign(line[begin]))
    ++begin;
  if (begin >= end) return {};
  // The run of characters that can be in a number, to the left of the place.
  std::size_t start = begin;
  while (start > 0 && begin - start < longest_number) {
    const char before = line[start - 1];
    const bool exponent = before == 'e' || before == 'E';
    if (!is_digit(before) && before != '.' && !is_sign(before) && !exponent) break;
    --start;
  }
  // A tab before the number, as CloudWatch shows it: "#011".
  const bool escape = start > 0 && line[start - 1] == '#' && begin >= start + 3 &&
                      std::all_of(&line[start], &line[start] + 3, is_digit);
  if (escape) start += 3;
  // The numbers of that run, from its start, until the one that holds the place.
  for (std::size_t at = start; at <= begin;) {
    const bool after_word = at > 0 && !(escape && at == start) &&
                            (is_digit(line[at - 1]) || is_letter(line[at - 1]) ||
                             line[at - 1] == ')' || line[at - 1] == ']');
    const std::size_t sign = is_sign(line[at]) && !after_word ? 1 : 0;
    const std::size_t length = unsigned_length(line.substr(at + sign));
    if (length == 0) {
      ++at;
      continue;
    }
    if (at + sign + length > begin) return line.substr(at, sign + length);
    at += sign + length;
  }
  return {};
}

}  // namespace meridian::region::telemetry
