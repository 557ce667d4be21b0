// Numbers as programs print them into their logs, and what a regex took out of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace meridian::region::telemetry {

// The whole text as Python's float() reads it: blanks around it, a sign, exponents, nan, inf and
// infinity in any case; 1e999 is inf. One full stop after it is the end of a sentence. Nothing for
// anything else.
std::optional<double> parse_metric_number(std::string_view text);

// The number of the line of which [begin, end) is a part: for "lr=1e-05" and the place of "1", this
// is "1e-05". Empty when no number lies there.
std::string_view number_around(std::string_view line, std::size_t begin, std::size_t end);

}  // namespace meridian::region::telemetry
