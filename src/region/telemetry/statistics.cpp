// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/statistics.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace meridian::region::telemetry {
namespace {

using Weighted = std::vector<std::pair<double, double>>;  // value, weight

struct Bucket {
  Datapoint datapoint;
  Weighted values;
};

void add(Bucket& bucket, const Point& point, bool keep_values) {
  Datapoint& d = bucket.datapoint;
  d.minimum = d.count == 0 ? point.minimum : std::min(d.minimum, point.minimum);
  d.maximum = d.count == 0 ? point.maximum : std::max(d.maximum, point.maximum);
  d.count += point.count;
  d.sum += point.sum;
  // A statistic set hides its single values; CloudWatch has percentiles only when they are equal.
  if (keep_values && point.minimum == point.maximum)
    bucket.values.emplace_back(point.minimum, point.count);
}

// The value at `place` of the sorted values written out one by one.
double value_at(const Weighted& sorted, double place) {
  double before = 0;
  for (const auto& [value, weight] : sorted) {
    before += weight;
    if (place < before) return value;
  }
  return sorted.back().first;
}

// Linear between the two values around the rank.
double percentile(const Weighted& sorted, double percent) {
  double total = 0;
  for (const auto& [value, weight] : sorted) total += weight;
  const double rank = percent / 100 * std::max(0.0, total - 1);
  const auto floor = static_cast<double>(static_cast<std::int64_t>(rank));
  const double low = value_at(sorted, floor), high = value_at(sorted, floor + 1);
  return low + (high - low) * (rank - floor);
}

}  // namespace

std::vector<Datapoint> aggregate(const std::vector<Point>& points, const Aggregation& how) {
  std::map<std::pair<std::int64_t, std::uint16_t>, Bucket> buckets;
  for (const Point& point : points) {
    if (point.at < how.start || point.at >= how.end) continue;
    if (how.unit && point.unit != *how.unit) continue;
    const std::int64_t index = (point.at - how.start) / how.period;
    add(buckets[{index, point.unit}], point, !how.percentiles.empty());
  }
  std::vector<Datapoint> out;
  for (auto& [key, bucket] : buckets) {
    bucket.datapoint.at = how.start + how.period * key.first;
    bucket.datapoint.unit = key.second;
    std::sort(bucket.values.begin(), bucket.values.end());
    if (!bucket.values.empty())
      for (const double percent : how.percentiles)
        bucket.datapoint.percentiles.push_back(percentile(bucket.values, percent));
    out.push_back(std::move(bucket.datapoint));
  }
  return out;
}

std::optional<double> parse_percentile(std::string_view statistic) {
  if (statistic.size() < 2 || (statistic[0] != 'p' && statistic[0] != 'P')) return std::nullopt;
  const auto percent = base::to_double(statistic.substr(1));
  if (!percent || !(*percent >= 0 && *percent <= 100)) return std::nullopt;
  return percent;
}

std::optional<double> basic_statistic(const Datapoint& datapoint, std::string_view statistic) {
  if (statistic == "Average") return datapoint.average();
  if (statistic == "Sum") return datapoint.sum;
  if (statistic == "Minimum") return datapoint.minimum;
  if (statistic == "Maximum") return datapoint.maximum;
  if (statistic == "SampleCount") return datapoint.count;
  return std::nullopt;
}

}  // namespace meridian::region::telemetry
