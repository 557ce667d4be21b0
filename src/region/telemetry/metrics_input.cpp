// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/metrics_input.h"

#include <cmath>

#include "aws/service.h"
#include "base/json.h"
#include "region/telemetry/logs_input.h"
#include "region/telemetry/units.h"

namespace meridian::region::telemetry {
namespace {

double number_of(const base::Json& value, const std::string& field) {
  const double number = value.is_number() ? value.to_number<double>() : std::nan("");
  if (!std::isfinite(number))
    refuse_metric_input("InvalidParameterValue",
                        "The value for parameter " + field + " is not a finite number.");
  return number;
}

double number_in(const base::JsonObject& in, std::string_view key, const std::string& field) {
  const base::Json* found = base::find(in, key);
  if (!found)
    refuse_metric_input("MissingParameter",
                        "The parameter " + field + "." + std::string(key) + " is required.");
  return number_of(*found, field + "." + std::string(key));
}

// Values with their Counts.
std::vector<Point> parse_values(const base::JsonObject& datum, const base::JsonArray& values,
                                base::Timestamp at, std::uint16_t unit) {
  const base::Json* counts = base::find(datum, "Counts");
  if (counts && (!counts->is_array() || counts->as_array().size() != values.size()))
    refuse_metric_input("InvalidParameterValue",
                        "The parameters MetricData.Values and MetricData.Counts must be of the "
                        "same size.");
  std::vector<Point> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Point point = Point::of(at, number_of(values[i], "MetricData.Values"), unit);
    if (counts) point.count = number_of(counts->as_array()[i], "MetricData.Counts");
    point.sum *= point.count;
    out.push_back(point);
  }
  return out;
}

std::vector<Point> parse_points(const base::JsonObject& datum, base::Timestamp at,
                                std::uint16_t unit) {
  if (const base::Json* value = base::find(datum, "Value"))
    return {Point::of(at, number_of(*value, "MetricData.Value"), unit)};
  if (const base::Json* set = base::find(datum, "StatisticValues"); set && set->is_object()) {
    const base::JsonObject& values = set->as_object();
    const std::string field = "MetricData.StatisticValues";
    return {{at, number_in(values, "Sum", field), number_in(values, "SampleCount", field),
             number_in(values, "Minimum", field), number_in(values, "Maximum", field), unit}};
  }
  if (const base::Json* values = base::find(datum, "Values"); values && values->is_array())
    return parse_values(datum, values->as_array(), at, unit);
  refuse_metric_input("MissingParameter",
                      "At least one of Value, Values or StatisticValues is required.");
}

}  // namespace

void refuse_metric_input(const std::string& aws_code, const std::string& message) {
  throw aws::ApiError(aws_code, message);
}

base::Timestamp input_time(const base::JsonObject& in, std::string_view key,
                           base::Timestamp fallback) {
  const base::Json* found = base::find(in, key);
  if (!found || !found->is_number()) return fallback;
  constexpr double most = 9e12;  // seconds; far beyond any calendar, still exact in milliseconds
  const double seconds = found->to_number<double>();
  if (!(std::abs(seconds) < most))
    refuse_metric_input("InvalidParameterValue",
                        "The parameter " + std::string(key) + " is not a time.");
  return {static_cast<std::int64_t>(std::llround(seconds * 1000))};
}

Dimensions parse_dimensions(const base::JsonObject& in) {
  Dimensions out;
  if (const base::Json* list = base::find(in, "Dimensions"); list && list->is_array())
    for (const auto& item : list->as_array())
      if (const auto* dimension = item.if_object())
        out[input_string(*dimension, "Name")] = input_string(*dimension, "Value");
  return out;
}

base::JsonArray dimensions_json(const Dimensions& dimensions) {
  base::JsonArray out;
  for (const auto& [name, value] : dimensions)
    out.push_back(base::JsonObject{{"Name", name}, {"Value", value}});
  return out;
}

SeriesKey parse_series_key(const base::JsonObject& in) {
  return {input_string(in, "Namespace"), input_string(in, "MetricName"), parse_dimensions(in)};
}

std::pair<SeriesKey, std::vector<Point>> parse_datum(const std::string& name_space,
                                                     const base::JsonObject& datum,
                                                     base::Timestamp now) {
  SeriesKey key{name_space, input_string(datum, "MetricName"), parse_dimensions(datum)};
  const base::Timestamp at = input_time(datum, "Timestamp", now);
  return {std::move(key), parse_points(datum, at, unit_number(input_string(datum, "Unit")))};
}

Aggregation parse_aggregation(base::Timestamp start, base::Timestamp end, std::int64_t period,
                              std::size_t most) {
  const bool short_period = period == 1 || period == 5 || period == 10 || period == 30;
  if (!short_period && (period <= 0 || period % 60 != 0 || period > 86'400 * 365LL))
    refuse_metric_input(
        "InvalidParameterValue",
        "The value " + std::to_string(period) +
            " for parameter Period is not valid: 1, 5, 10, 30 or a multiple of 60.");
  if (start >= end)
    refuse_metric_input("InvalidParameterValue",
                        "The parameter StartTime must be less than the parameter EndTime.");
  Aggregation out;
  const std::int64_t grain = short_period ? period * 1000 : 60'000;
  out.start.ms = start.ms - ((start.ms % grain) + grain) % grain;
  out.end = end;
  out.period = base::Duration(period * 1000);
  const std::int64_t periods = (end.ms - start.ms) / (period * 1000);
  if (periods > static_cast<std::int64_t>(most))
    refuse_metric_input("InvalidParameterCombination",
                        "You have requested up to " + std::to_string(periods) +
                            " datapoints, which exceeds the limit of " + std::to_string(most) +
                            ". You may reduce the datapoints requested by increasing Period, or "
                            "decreasing the time range.");
  return out;
}

}  // namespace meridian::region::telemetry
