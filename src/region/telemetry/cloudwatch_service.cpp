// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/cloudwatch_service.h"

#include <algorithm>
#include <memory>

#include "base/json.h"
#include "region/telemetry/logs_input.h"
#include "region/telemetry/metrics_input.h"
#include "region/telemetry/units.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::size_t most_datapoints = 1440;
constexpr std::size_t most_datapoints_of_queries = 100'800;
constexpr std::size_t page_size = 500;

std::vector<std::string> strings(const base::JsonObject& in, std::string_view key) {
  std::vector<std::string> out;
  if (const base::Json* list = base::find(in, key); list && list->is_array())
    for (const auto& item : list->as_array())
      if (item.is_string()) out.emplace_back(base::view(item.as_string()));
  return out;
}

std::optional<std::uint16_t> unit_of(const base::JsonObject& in) {
  const std::string unit = input_string(in, "Unit");
  if (unit.empty()) return std::nullopt;
  return unit_number(unit);
}

double percentile_or_refuse(const std::string& statistic) {
  const auto percent = parse_percentile(statistic);
  if (!percent)
    refuse_metric_input("InvalidParameterValue",
                        "The statistic '" + statistic +
                            "' is not supported: SampleCount, Average, Sum, Minimum, Maximum and "
                            "percentiles like p99 are.");
  return *percent;
}

base::Json put_metric_data(SeriesStore& series, const base::Clock& clock,
                           const base::JsonObject& in) {
  const base::Json* data = base::find(in, "MetricData");
  if (!data || !data->is_array())
    refuse_metric_input("MissingParameter", "The parameter MetricData is required.");
  // Everything is checked before anything is written.
  std::vector<std::pair<SeriesKey, std::vector<Point>>> all;
  for (const auto& datum : data->as_array())
    all.push_back(parse_datum(input_string(in, "Namespace"), datum.as_object(), clock.now()));
  for (const auto& [key, points] : all) series.append(key, points);
  return base::JsonObject();
}

base::Json list_metrics(const SeriesStore& series, const base::JsonObject& in) {
  SeriesStore::Filter filter{input_string(in, "Namespace"), input_string(in, "MetricName"), {}};
  if (const base::Json* wanted = base::find(in, "Dimensions"); wanted && wanted->is_array())
    for (const auto& item : wanted->as_array()) {
      const base::JsonObject& dimension = item.as_object();
      const bool has_value = base::find(dimension, "Value") != nullptr;
      filter.dimensions.emplace_back(
          input_string(dimension, "Name"),
          has_value ? std::optional(input_string(dimension, "Value")) : std::nullopt);
    }
  const auto listing = with_token_errors(
      [&] { return series.list(filter, input_string(in, "NextToken"), page_size); });
  base::JsonArray metrics;
  for (const auto& key : listing.series)
    metrics.push_back(base::JsonObject{{"Namespace", key.name_space},
                                       {"MetricName", key.name},
                                       {"Dimensions", dimensions_json(key.dimensions)}});
  base::JsonObject out{{"Metrics", std::move(metrics)}};
  if (!listing.next_token.empty()) out["NextToken"] = listing.next_token;
  return out;
}

base::Json datapoint_json(const Datapoint& datapoint, const std::vector<std::string>& statistics,
                          const std::vector<std::string>& extended) {
  base::JsonObject out{{"Timestamp", datapoint.at.seconds()},
                       {"Unit", base::Json(std::string(unit_name(datapoint.unit)))}};
  for (const auto& statistic : statistics)
    if (const auto value = basic_statistic(datapoint, statistic)) out[statistic] = *value;
  if (datapoint.percentiles.empty()) return out;
  base::JsonObject percentiles;
  for (std::size_t i = 0; i < extended.size(); ++i)
    percentiles[extended[i]] = datapoint.percentiles[i];
  out["ExtendedStatistics"] = std::move(percentiles);
  return out;
}

base::Json get_metric_statistics(const SeriesStore& series, const base::JsonObject& in) {
  const auto statistics = strings(in, "Statistics"), extended = strings(in, "ExtendedStatistics");
  if (statistics.empty() == extended.empty())
    refuse_metric_input("InvalidParameterCombination",
                        statistics.empty()
                            ? "Either Statistics or ExtendedStatistics must be specified."
                            : "Statistics and ExtendedStatistics can not be used together.");
  Aggregation how =
      parse_aggregation(input_time(in, "StartTime", {}), input_time(in, "EndTime", {}),
                        input_int(in, "Period").value_or(0), most_datapoints);
  how.unit = unit_of(in);
  for (const auto& statistic : extended) how.percentiles.push_back(percentile_or_refuse(statistic));
  const SeriesKey key = parse_series_key(in);
  base::JsonArray datapoints;
  for (const auto& datapoint : aggregate(series.read(key, how.start, how.end), how))
    datapoints.push_back(datapoint_json(datapoint, statistics, extended));
  return base::JsonObject{{"Label", key.name}, {"Datapoints", std::move(datapoints)}};
}

struct Query {
  std::string id, label, statistic;
  SeriesKey key;
  Aggregation how;
};

Query parse_query(const base::JsonObject& in, base::Timestamp start, base::Timestamp end) {
  Query query;
  query.id = input_string(in, "Id");
  if (base::find(in, "Expression"))
    refuse_metric_input("ValidationError", "Query '" + query.id +
                                               "': metric math expressions are not supported; ask "
                                               "for each metric by MetricStat.");
  const base::Json* stat = base::find(in, "MetricStat");
  if (!stat || !stat->is_object())
    refuse_metric_input("ValidationError", "Query '" + query.id + "': MetricStat is missing.");
  const base::JsonObject& metric_stat = stat->as_object();
  const base::Json* metric = base::find(metric_stat, "Metric");
  if (!metric || !metric->is_object())
    refuse_metric_input("ValidationError", "Query '" + query.id + "': Metric is missing.");
  query.key = parse_series_key(metric->as_object());
  query.statistic = input_string(metric_stat, "Stat");
  query.label = input_string(in, "Label");
  if (query.label.empty()) query.label = query.key.name;
  query.how = parse_aggregation(start, end, input_int(metric_stat, "Period").value_or(0),
                                most_datapoints_of_queries);
  query.how.unit = unit_of(metric_stat);
  if (!basic_statistic({}, query.statistic))
    query.how.percentiles.push_back(percentile_or_refuse(query.statistic));
  return query;
}

base::Json run_query(const SeriesStore& series, const Query& query, bool ascending) {
  auto datapoints = aggregate(series.read(query.key, query.how.start, query.how.end), query.how);
  if (!ascending) std::reverse(datapoints.begin(), datapoints.end());
  base::JsonArray times, values;
  for (const auto& datapoint : datapoints) {
    const auto basic = basic_statistic(datapoint, query.statistic);
    if (!basic && datapoint.percentiles.empty()) continue;
    times.push_back(datapoint.at.seconds());
    values.push_back(basic ? *basic : datapoint.percentiles[0]);
  }
  return base::JsonObject{{"Id", query.id},
                          {"Label", query.label},
                          {"Timestamps", std::move(times)},
                          {"Values", std::move(values)},
                          {"StatusCode", "Complete"}};
}

base::Json get_metric_data(const SeriesStore& series, const base::JsonObject& in) {
  const base::Json* list = base::find(in, "MetricDataQueries");
  if (!list || !list->is_array())
    refuse_metric_input("MissingParameter", "The parameter MetricDataQueries is required.");
  const base::Timestamp start = input_time(in, "StartTime", {}),
                        end = input_time(in, "EndTime", {});
  const bool ascending = input_string(in, "ScanBy") == "TimestampAscending";
  base::JsonArray results;
  for (const auto& item : list->as_array()) {
    const Query query = parse_query(item.as_object(), start, end);
    const base::Json* shown = base::find(item.as_object(), "ReturnData");
    if (shown && shown->is_bool() && !shown->as_bool()) continue;
    results.push_back(run_query(series, query, ascending));
  }
  return base::JsonObject{{"MetricDataResults", std::move(results)},
                          {"Messages", base::JsonArray()}};
}

}  // namespace

aws::Service make_cloudwatch_service(SeriesStore& series, const base::Clock& clock) {
  using In = const base::JsonObject&;
  using Context = const aws::CallContext&;
  return {
      "monitoring",
      {{"PutMetricData", [&](Context, In in) { return put_metric_data(series, clock, in); }},
       {"ListMetrics", [&](Context, In in) { return list_metrics(series, in); }},
       {"GetMetricStatistics", [&](Context, In in) { return get_metric_statistics(series, in); }},
       {"GetMetricData", [&](Context, In in) { return get_metric_data(series, in); }}}};
}

}  // namespace meridian::region::telemetry
