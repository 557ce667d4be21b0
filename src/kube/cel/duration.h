// Durations as Go and CEL write them: "1h30m", "-1.5s", "250ms", "0".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace meridian::kube {

// Nothing for another text, and past ±292 years.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);
std::string duration_text(std::chrono::nanoseconds duration);  // CEL's form: "5400s", "1.5s"

}  // namespace meridian::kube
