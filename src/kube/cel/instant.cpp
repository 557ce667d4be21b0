// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/instant.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/strings.h"

namespace meridian::kube::cel {
namespace {

constexpr std::int64_t per_second = 1'000'000'000;
constexpr std::int64_t first_second = -62'135'596'800;  // of year 1
constexpr std::int64_t last_second = 253'402'300'799;   // of year 9999

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

std::optional<Instant> checked(std::int64_t seconds, std::int64_t nanoseconds) {
  if (seconds < first_second || seconds > last_second) return std::nullopt;
  return Instant{seconds, static_cast<std::int32_t>(nanoseconds)};
}

// The digits after the seconds' point, as nanoseconds.
std::int64_t nanoseconds_of(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return 0;
  std::int64_t out = 0;
  std::int64_t scale = per_second / 10;
  for (std::size_t i = point + 1; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    out += scale * (text[i] - '0');
    scale /= 10;
  }
  return out;
}

// "+01:00" as seconds.
std::optional<std::int64_t> offset_of(std::string_view zone) {
  if (zone.empty() || zone == "UTC" || zone == "Z") return 0;
  const bool negative = zone[0] == '-';
  if (negative || zone[0] == '+') zone.remove_prefix(1);
  if (zone.size() != 5 || zone[2] != ':') return std::nullopt;
  const auto hours = base::to_uint(zone.substr(0, 2));
  const auto minutes = base::to_uint(zone.substr(3));
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const auto seconds = static_cast<std::int64_t>(*hours * 3600 + *minutes * 60);
  return negative ? -seconds : seconds;
}

}  // namespace

std::optional<Instant> parse_instant(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[10] != 'T') return std::nullopt;
  if (!text.ends_with('Z') && text.find_first_of("+-", 19) == std::string_view::npos) {
    return std::nullopt;
  }
  const auto time = base::parse_iso8601(text);
  if (!time) return std::nullopt;
  return checked(floor_div(time->ms, 1000), nanoseconds_of(text));
}

std::string instant_text(const Instant& instant) {
  std::string out = base::format_iso8601_seconds({instant.seconds * 1000});
  if (instant.nanoseconds == 0) return out;
  std::string fraction = fmt::format("{:09}", instant.nanoseconds);
  while (fraction.back() == '0') fraction.pop_back();
  out.insert(out.size() - 1, "." + fraction);
  return out;
}

std::optional<Instant> plus(const Instant& instant, std::int64_t nanoseconds) {
  const std::int64_t rest = instant.nanoseconds + nanoseconds % per_second;
  const std::int64_t seconds =
      instant.seconds + nanoseconds / per_second + floor_div(rest, per_second);
  return checked(seconds, rest - floor_div(rest, per_second) * per_second);
}

std::optional<std::int64_t> minus(const Instant& a, const Instant& b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a.seconds - b.seconds, per_second, &out)) return std::nullopt;
  if (__builtin_add_overflow(out, std::int64_t{a.nanoseconds} - b.nanoseconds, &out)) {
    return std::nullopt;
  }
  return out;
}

std::optional<Calendar> calendar_of(const Instant& instant, std::string_view zone) {
  const auto offset = offset_of(zone);
  if (!offset) return std::nullopt;
  const std::int64_t local = instant.seconds + *offset;
  const std::int64_t day = floor_div(local, 86'400);
  const std::chrono::sys_days date{std::chrono::days(day)};
  const std::chrono::year_month_day parts(date);
  const std::chrono::sys_days new_year(parts.year() / 1 / 1);
  const auto in_day = static_cast<int>(local - day * 86'400);
  return Calendar{.year = static_cast<int>(parts.year()),
                  .month = static_cast<int>(static_cast<unsigned>(parts.month())),
                  .day = static_cast<int>(static_cast<unsigned>(parts.day())),
                  .weekday = static_cast<int>(std::chrono::weekday(date).c_encoding()),
                  .yearday = static_cast<int>((date - new_year).count()),
                  .hours = in_day / 3600,
                  .minutes = in_day / 60 % 60,
                  .seconds = in_day % 60,
                  .milliseconds = instant.nanoseconds / 1'000'000};
}

}  // namespace meridian::kube::cel
