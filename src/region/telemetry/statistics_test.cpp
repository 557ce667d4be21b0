// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/statistics.h"

#include <gtest/gtest.h>

namespace meridian::region::telemetry {
namespace {

const Aggregation minutes{.start = {0}, .end = {600'000}};

TEST(Statistics, PointsFallIntoPeriodsFromTheStart) {
  const auto out = aggregate(
      {Point::of({0}, 1), Point::of({59'999}, 3), Point::of({60'000}, 5), Point::of({600'000}, 9)},
      minutes);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].at.ms, 0);
  EXPECT_EQ(out[0].count, 2);
  EXPECT_EQ(out[0].average(), 2);
  EXPECT_EQ(basic_statistic(out[0], "Sum"), 4);
  EXPECT_EQ(basic_statistic(out[0], "Minimum"), 1);
  EXPECT_EQ(basic_statistic(out[0], "Maximum"), 3);
  EXPECT_EQ(basic_statistic(out[0], "SampleCount"), 2);
  EXPECT_EQ(basic_statistic(out[0], "p50"), std::nullopt);
  EXPECT_EQ(out[1].at.ms, 60'000);
}

TEST(Statistics, NegativeValuesHaveTheirMaximum) {
  const auto out = aggregate({Point::of({1}, -5), Point::of({2}, -3)}, minutes);
  EXPECT_EQ(out.at(0).maximum, -3);
  EXPECT_EQ(out.at(0).minimum, -5);
}

TEST(Statistics, UnitsStayApart) {
  const std::vector<Point> points = {Point::of({1}, 5, 14), Point::of({2}, 7, 0)};
  EXPECT_EQ(aggregate(points, minutes).size(), 2u);
  Aggregation percent = minutes;
  percent.unit = 14;
  const auto out = aggregate(points, percent);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].sum, 5);
}

TEST(Statistics, PercentilesLieBetweenTheirNeighbours) {
  Aggregation how = minutes;
  how.percentiles = {0, 50, 90, 100};
  std::vector<Point> points;
  for (int i = 10; i >= 0; --i) points.push_back(Point::of({i}, i));
  EXPECT_EQ(aggregate(points, how).at(0).percentiles, (std::vector<double>{0, 5, 9, 10}));
  const Point weighted{{5}, 400, 100, 4, 4, 0};
  EXPECT_EQ(aggregate({weighted, Point::of({1}, 1)}, how).at(0).percentiles[1], 4);
}

TEST(Statistics, AStatisticSetHasNoPercentiles) {
  Aggregation how = minutes;
  how.percentiles = {50};
  const Point set{{5}, 10, 4, 1, 4, 0};
  EXPECT_TRUE(aggregate({set}, how).at(0).percentiles.empty());
  EXPECT_EQ(aggregate({set}, how).at(0).average(), 2.5);
}

TEST(Statistics, NamesOfPercentilesAreChecked) {
  EXPECT_EQ(parse_percentile("p99.9"), 99.9);
  EXPECT_EQ(parse_percentile("p0"), 0);
  for (const char* wrong : {"p", "p101", "p-1", "99", "tm99", "pnan", ""})
    EXPECT_EQ(parse_percentile(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace meridian::region::telemetry
