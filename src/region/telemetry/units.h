// CloudWatch's units, as numbers that segments store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace meridian::region::telemetry {

inline constexpr std::uint16_t unit_none = 0;

std::optional<std::uint16_t> find_unit(std::string_view name);  // "Percent"
std::string_view unit_name(std::uint16_t unit);                 // "None" for unknown numbers
std::uint16_t unit_number(std::string_view name);               // "None" for unknown names

}  // namespace meridian::region::telemetry
