// CEL's timestamps: reading, writing, calendar fields.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/cel/value.h"

namespace meridian::kube::cel {

std::optional<Instant> parse_instant(std::string_view text);  // RFC 3339, to the nanosecond
std::string instant_text(const Instant& instant);
// Nothing past the years 1 to 9999.
std::optional<Instant> plus(const Instant& instant, std::int64_t nanoseconds);
std::optional<std::int64_t> minus(const Instant& a, const Instant& b);  // nanoseconds; ±292 years

struct Calendar {
  int year, month, day;  // month and day from 1
  int weekday, yearday;  // from 0; Sunday is 0
  int hours, minutes, seconds, milliseconds;
};
// `zone`: "", "UTC" or "+01:00"; nothing for another.
std::optional<Calendar> calendar_of(const Instant& instant, std::string_view zone);

}  // namespace meridian::kube::cel
