// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/duration.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace meridian::kube {
namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
// "ms" stands before "m", which is its prefix.
constexpr Unit units[] = {{"ns", 1},
                          {"us", 1'000},
                          {"µs", 1'000},
                          {"ms", 1'000'000},
                          {"s", nanoseconds_per_second},
                          {"m", 60 * nanoseconds_per_second},
                          {"h", 3600 * nanoseconds_per_second}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

const Unit* take_unit(std::string_view& text) {
  for (const Unit& unit : units) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return &unit;
  }
  return nullptr;
}

// "90", "1.5", ".5" with its unit, in nanoseconds.
std::optional<std::int64_t> take_part(std::string_view& text) {
  std::int64_t whole = 0;
  bool digits = false;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), digits = true) {
    if (__builtin_mul_overflow(whole, 10, &whole)) return std::nullopt;
    if (__builtin_add_overflow(whole, text.front() - '0', &whole)) return std::nullopt;
  }
  double fraction = 0;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    double scale = 0.1;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), digits = true) {
      fraction += scale * (text.front() - '0');
      scale /= 10;
    }
  }
  const Unit* unit = digits ? take_unit(text) : nullptr;
  std::int64_t out = 0;
  if (unit == nullptr || __builtin_mul_overflow(whole, unit->nanoseconds, &out))
    return std::nullopt;
  const auto rest = std::llround(fraction * static_cast<double>(unit->nanoseconds));
  if (__builtin_add_overflow(out, rest, &out)) return std::nullopt;
  return out;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  while (!text.empty()) {
    const auto part = take_part(text);
    if (!part || __builtin_add_overflow(total, *part, &total)) return std::nullopt;
  }
  return std::chrono::nanoseconds(negative ? -total : total);
}

std::string duration_text(std::chrono::nanoseconds duration) {
  const std::int64_t count = duration.count();
  const bool negative = count < 0;
  const std::uint64_t size = negative ? std::uint64_t{0} - static_cast<std::uint64_t>(count)
                                      : static_cast<std::uint64_t>(count);
  std::string out = fmt::format("{}{}", negative ? "-" : "",
                                size / static_cast<std::uint64_t>(nanoseconds_per_second));
  if (const std::uint64_t rest = size % static_cast<std::uint64_t>(nanoseconds_per_second);
      rest != 0) {
    out += fmt::format(".{:09}", rest);
    while (out.back() == '0') out.pop_back();
  }
  return out + "s";
}

}  // namespace meridian::kube
