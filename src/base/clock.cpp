// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fmt/format.h>
#include <time.h>

#include <ctime>

namespace meridian::base {
namespace {

std::tm utc(Timestamp t) {
  // Floor division, so that times before 1970 keep their date.
  std::time_t seconds = t.ms / 1000 - (t.ms % 1000 < 0 ? 1 : 0);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

std::string format(const char* pattern, Timestamp t) {
  const std::tm parts = utc(t);
  char buffer[64];
  return std::string(buffer, std::strftime(buffer, sizeof buffer, pattern, &parts));
}

int days_in_month(int year, int month) {
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (month == 2) return leap ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Reads exactly `digits` digits; -1 when they are not all there.
int take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return -1;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Timestamp SystemClock::now() const {
  using namespace std::chrono;
  return {duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count()};
}

Ticks SystemClock::ticks() const {
  using namespace std::chrono;
  return {duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count()};
}

Timestamp ManualClock::now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

Ticks ManualClock::ticks() const {
  std::lock_guard lock(mutex_);
  return ticks_;
}

void ManualClock::advance(Duration by) {
  std::lock_guard lock(mutex_);
  now_ = now_ + by;
  ticks_ = ticks_ + by;
}

void ManualClock::jump_wall_clock(Duration by) {
  std::lock_guard lock(mutex_);
  now_ = now_ + by;
}

std::string format_iso8601(Timestamp t) {
  const int ms = static_cast<int>(((t.ms % 1000) + 1000) % 1000);
  return format("%Y-%m-%dT%H:%M:%S", t) + fmt::format(".{:03}Z", ms);
}

std::string format_iso8601_seconds(Timestamp t) { return format("%Y-%m-%dT%H:%M:%SZ", t); }
std::string format_amz_date(Timestamp t) { return format("%Y%m%dT%H%M%SZ", t); }
std::string format_http_date(Timestamp t) { return format("%a, %d %b %Y %H:%M:%S GMT", t); }

Result<Timestamp> parse_iso8601(std::string_view text) {
  const std::string_view whole = text;
  const auto fail = [&](const char* why) {
    return ParseError{fmt::format("'{}' is not a time like 2026-01-31T12:00:00Z: {}", whole, why),
                      whole.size() - text.size()};
  };
  std::tm parts{};
  const int year = take_number(text, 4);
  const bool dashed = take(text, '-');
  const int month = take_number(text, 2);
  if (dashed && !take(text, '-')) return fail("a '-' is missing in the date");
  const int day = take_number(text, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) {
    return fail("bad date");
  }
  int hour = 0, minute = 0, second = 0, millis = 0, offset_minutes = 0;
  if (!text.empty()) {
    if (!take(text, 'T') && !take(text, ' ')) return fail("a 'T' must follow the date");
    hour = take_number(text, 2);
    const bool colons = take(text, ':');
    minute = take_number(text, 2);
    if (colons && !take(text, ':')) return fail("a ':' is missing in the time");
    second = take_number(text, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
      return fail("bad time of day");
    }
    if (take(text, '.')) {
      int scale = 100;
      bool any = false;
      while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        millis += (text.front() - '0') * scale;
        scale /= 10;
        any = true;
        text.remove_prefix(1);
      }
      if (!any) return fail("no digits after '.'");
    }
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
      const int sign = text.front() == '-' ? -1 : 1;
      text.remove_prefix(1);
      const int h = take_number(text, 2);
      take(text, ':');
      const int m = take_number(text, 2);
      if (h < 0 || h > 23 || m < 0 || m > 59) return fail("bad zone offset");
      offset_minutes = sign * (h * 60 + m);
    } else {
      take(text, 'Z');
    }
  }
  if (!text.empty()) return fail("something follows the time");
  parts.tm_year = year - 1900;
  parts.tm_mon = month - 1;
  parts.tm_mday = day;
  parts.tm_hour = hour;
  parts.tm_min = minute;
  parts.tm_sec = second;
  const std::int64_t seconds = static_cast<std::int64_t>(timegm(&parts)) - offset_minutes * 60;
  return Timestamp{seconds * 1000 + millis};
}

Result<Timestamp> parse_http_date(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  const char* end = strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') {
    return ParseError{fmt::format("'{}' is not a date like 'Sat, 31 Jan 2026 12:00:00 GMT'", text)};
  }
  return Timestamp{static_cast<std::int64_t>(timegm(&parts)) * 1000};
}

std::string format_duration(Duration d) {
  const std::int64_t ms = d.count();
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (ms < 60'000) return fmt::format("{}.{}s", ms / 1000, ms % 1000 / 100);
  const std::int64_t s = ms / 1000;
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
}

}  // namespace meridian::base
