// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/units.h"

#include <array>

namespace meridian::region::telemetry {
namespace {

// Stored by place: only ever add at the end.
constexpr std::array<std::string_view, 27> units = {"None",
                                                    "Seconds",
                                                    "Microseconds",
                                                    "Milliseconds",
                                                    "Bytes",
                                                    "Kilobytes",
                                                    "Megabytes",
                                                    "Gigabytes",
                                                    "Terabytes",
                                                    "Bits",
                                                    "Kilobits",
                                                    "Megabits",
                                                    "Gigabits",
                                                    "Terabits",
                                                    "Percent",
                                                    "Count",
                                                    "Bytes/Second",
                                                    "Kilobytes/Second",
                                                    "Megabytes/Second",
                                                    "Gigabytes/Second",
                                                    "Terabytes/Second",
                                                    "Bits/Second",
                                                    "Kilobits/Second",
                                                    "Megabits/Second",
                                                    "Gigabits/Second",
                                                    "Terabits/Second",
                                                    "Count/Second"};

}  // namespace

std::optional<std::uint16_t> find_unit(std::string_view name) {
  for (std::size_t i = 0; i < units.size(); ++i)
    if (units[i] == name) return static_cast<std::uint16_t>(i);
  return std::nullopt;
}

std::string_view unit_name(std::uint16_t unit) { return units[unit < units.size() ? unit : 0]; }

std::uint16_t unit_number(std::string_view name) { return find_unit(name).value_or(unit_none); }

}  // namespace meridian::region::telemetry
