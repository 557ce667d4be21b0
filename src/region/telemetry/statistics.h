// Points of a metric, aggregated over periods as CloudWatch does it. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "region/telemetry/point.h"

namespace meridian::region::telemetry {

struct Datapoint {
  base::Timestamp at{};  // start of its period
  std::uint16_t unit = 0;
  double count = 0, sum = 0, minimum = 0, maximum = 0;
  std::vector<double> percentiles;  // in the order asked for

  double average() const { return count > 0 ? sum / count : 0; }
};

struct Aggregation {
  base::Timestamp start{}, end{};  // start <= at < end; periods count from `start`
  base::Duration period{60'000};
  std::optional<std::uint16_t> unit;  // only points of this unit
  std::vector<double> percentiles;    // 0..100
};

// One datapoint per period and unit that has points, by time.
std::vector<Datapoint> aggregate(const std::vector<Point>& points, const Aggregation& how);

// "p99" or "p99.9" as 99.9; nothing when it is no percentile.
std::optional<double> parse_percentile(std::string_view statistic);

// Average, Sum, Minimum, Maximum or SampleCount of a datapoint; nothing for another name.
std::optional<double> basic_statistic(const Datapoint& datapoint, std::string_view statistic);

}  // namespace meridian::region::telemetry
