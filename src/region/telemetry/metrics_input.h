// Inputs of CloudWatch operations, read and checked. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "region/telemetry/series.h"
#include "region/telemetry/statistics.h"

namespace meridian::region::telemetry {

[[noreturn]] void refuse_metric_input(const std::string& aws_code, const std::string& message);

base::Timestamp input_time(const base::JsonObject& in, std::string_view key,
                           base::Timestamp fallback);
Dimensions parse_dimensions(const base::JsonObject& in);
base::JsonArray dimensions_json(const Dimensions& dimensions);

// Namespace, MetricName, Dimensions.
SeriesKey parse_series_key(const base::JsonObject& in);

// One MetricDatum of PutMetricData.
std::pair<SeriesKey, std::vector<Point>> parse_datum(const std::string& name_space,
                                                     const base::JsonObject& datum,
                                                     base::Timestamp now);

// Start and end as CloudWatch rounds them, a period it allows, at most `most` periods.
Aggregation parse_aggregation(base::Timestamp start, base::Timestamp end, std::int64_t period,
                              std::size_t most);

}  // namespace meridian::region::telemetry
