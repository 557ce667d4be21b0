// One value of a metric at one time, and its form in a segment file.
//
// A segment is a row of records of 48 bytes, little-endian:
//
//   at_ms i64 | sum f64 | count f64 | minimum f64 | maximum f64 | unit u16 | 0 u16 | crc32 u32
//
// The checksum covers the 44 bytes before it. A record that fails it (a hole, a torn end) is passed
// over by readers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace meridian::region::telemetry {

struct Point {
  base::Timestamp at{};
  double sum = 0, count = 1, minimum = 0, maximum = 0;
  std::uint16_t unit = 0;

  static Point of(base::Timestamp at, double value, std::uint16_t unit = 0) {
    return {at, value, 1, value, value, unit};
  }
};

inline constexpr std::size_t point_bytes = 48;

std::string encode_points(const std::vector<Point>& points);
// Adds those with from <= at < to.
void decode_points(std::string_view segment, base::Timestamp from, base::Timestamp to,
                   std::vector<Point>& out);

}  // namespace meridian::region::telemetry
