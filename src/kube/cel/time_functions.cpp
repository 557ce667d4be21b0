// The getters of durations and timestamps.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "kube/cel/functions.h"
#include "kube/cel/instant.h"

namespace meridian::kube::cel {
namespace {

using Arguments = std::span<const Value>;

// A field of a timestamp, in the time zone of the second argument.
template <auto field>
Value of_instant(Arguments arguments, Meter&) {
  const auto* instant = arguments[0].as<Instant>();
  const auto* zone = arguments.size() > 1 ? arguments[1].as<std::string>() : nullptr;
  if (instant == nullptr || (arguments.size() > 1 && zone == nullptr)) {
    return no_overload("a timestamp's field", arguments[0]);
  }
  const auto calendar = calendar_of(*instant, zone == nullptr ? "" : *zone);
  if (!calendar) return fail(fmt::format("time zone '{}' is neither UTC nor like +01:00", *zone));
  return {static_cast<std::int64_t>(field(*calendar))};
}

// The same of a timestamp, or all of a duration in this unit.
template <auto field, std::int64_t unit>
Value of_either(Arguments arguments, Meter& meter) {
  const auto* duration = arguments[0].as<Duration>();
  if (duration == nullptr) return of_instant<field>(arguments, meter);
  if (arguments.size() > 1) return no_overload("a duration's field", arguments[0], arguments[1]);
  return {duration->nanoseconds / unit};
}

constexpr auto year = [](const Calendar& c) { return c.year; };
constexpr auto month = [](const Calendar& c) { return c.month - 1; };
constexpr auto date = [](const Calendar& c) { return c.day; };
constexpr auto day_of_month = [](const Calendar& c) { return c.day - 1; };
constexpr auto day_of_week = [](const Calendar& c) { return c.weekday; };
constexpr auto day_of_year = [](const Calendar& c) { return c.yearday; };
constexpr auto hours = [](const Calendar& c) { return c.hours; };
constexpr auto minutes = [](const Calendar& c) { return c.minutes; };
constexpr auto seconds = [](const Calendar& c) { return c.seconds; };
constexpr auto milliseconds = [](const Calendar& c) { return c.milliseconds; };

constexpr std::int64_t second = 1'000'000'000;

constexpr Function table[] = {
    {"getFullYear", Form::method, 1, 2, of_instant<year>},
    {"getMonth", Form::method, 1, 2, of_instant<month>},
    {"getDate", Form::method, 1, 2, of_instant<date>},
    {"getDayOfMonth", Form::method, 1, 2, of_instant<day_of_month>},
    {"getDayOfWeek", Form::method, 1, 2, of_instant<day_of_week>},
    {"getDayOfYear", Form::method, 1, 2, of_instant<day_of_year>},
    {"getHours", Form::method, 1, 2, of_either<hours, 3600 * second>},
    {"getMinutes", Form::method, 1, 2, of_either<minutes, 60 * second>},
    {"getSeconds", Form::method, 1, 2, of_either<seconds, second>},
    {"getMilliseconds", Form::method, 1, 2, of_either<milliseconds, second / 1000>},
};

}  // namespace

std::span<const Function> time_functions() { return table; }

}  // namespace meridian::kube::cel
