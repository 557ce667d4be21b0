// SPDX-License-Identifier: Apache-2.0
#include "cli/format.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::cli {
namespace {

std::string print(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_-./:=,@%+").find(c) != std::string_view::npos;
}

}  // namespace

std::string format_age(base::Duration age) {
  const auto seconds = std::max<std::int64_t>(0, age.count() / 1000);
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < 120 * 60) return std::to_string(seconds / 60) + "m";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86400) + "d";
}

std::string format_number(double value) {
  const double size = std::fabs(value);
  if (value == std::floor(value) && size < 1e9) return print("%.0f", value);
  if (!std::isfinite(value) || size < 1e-3 || size >= 1e9) return print("%.3g", value);
  if (size >= 100) return print("%.1f", value);
  return print("%.4f", value);
}

std::string format_money(double dollars) { return print(dollars < 1 ? "$%.4f" : "$%.2f", dollars); }

std::optional<base::Timestamp> find_time(const base::Json& object, std::string_view member) {
  const auto* value = base::find(object, member);
  if (value == nullptr || !value->is_number()) return {};
  return base::Timestamp{static_cast<std::int64_t>(value->to_number<double>() * 1000.0)};
}

std::string shell_quote(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  return "'" + base::replace_all(text, "'", "'\\''") + "'";
}

std::string count_of(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace meridian::cli
