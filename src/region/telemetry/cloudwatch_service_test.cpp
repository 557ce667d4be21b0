// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/cloudwatch_service.h"

#include <gmock/gmock.h>

#include "region/telemetry/test_region.h"

namespace meridian::region::telemetry {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CloudWatchTest : public TestRegion {
 protected:
  static constexpr std::int64_t start = 1'699'999'980;  // a whole minute

  void put(base::JsonObject datum) {
    datum["MetricName"] = "m";
    cloudwatch("PutMetricData",
               {{"Namespace", "n"}, {"MetricData", base::JsonArray{std::move(datum)}}});
  }
  base::JsonObject statistics_input(base::JsonObject more) {
    base::JsonObject in{{"Namespace", "n"},
                        {"MetricName", "m"},
                        {"StartTime", start},
                        {"EndTime", start + 600},
                        {"Period", 60}};
    for (auto& [key, value] : more) in[key] = value;
    return in;
  }
  base::Json statistics(base::JsonObject more) {
    return cloudwatch("GetMetricStatistics", statistics_input(std::move(more)));
  }
  base::Json data(base::JsonObject query, base::JsonObject more = {}) {
    base::JsonObject in{{"StartTime", start},
                        {"EndTime", start + 600},
                        {"MetricDataQueries", base::JsonArray{std::move(query)}}};
    for (auto& [key, value] : more) in[key] = value;
    return cloudwatch("GetMetricData", std::move(in));
  }
  static base::JsonObject query(const std::string& stat) {
    return {
        {"Id", "q"},
        {"MetricStat",
         {{"Metric", {{"Namespace", "n"}, {"MetricName", "m"}}}, {"Period", 60}, {"Stat", stat}}}};
  }
};

TEST_F(CloudWatchTest, ValuesAreAggregatedOverPeriods) {
  put({{"Value", 1}, {"Timestamp", start + 1}});
  put({{"Value", 3.5}, {"Timestamp", start + 59.5}});
  put({{"Value", 7}, {"Timestamp", start + 60}, {"Unit", "None"}});
  const auto out = statistics({{"Statistics", {"Average", "Maximum", "SampleCount"}}});
  EXPECT_EQ(out.at("Label").as_string(), "m");
  ASSERT_EQ(out.at("Datapoints").as_array().size(), 2u);
  const auto& first = out.at("Datapoints").at(0);
  EXPECT_EQ(first.at("Timestamp").to_number<double>(), start);
  EXPECT_EQ(first.at("Average").to_number<double>(), 2.25);
  EXPECT_EQ(first.at("Maximum").to_number<double>(), 3.5);
  EXPECT_EQ(first.at("SampleCount").to_number<double>(), 2);
  EXPECT_FALSE(first.as_object().contains("Sum"));
}

TEST_F(CloudWatchTest, SetsAndManyValuesCountAsTheySay) {
  put({{"Timestamp", start},
       {"StatisticValues", {{"SampleCount", 4}, {"Sum", 10}, {"Minimum", 1}, {"Maximum", 4}}}});
  put({{"Timestamp", start}, {"Values", {5, 7}}, {"Counts", {2, 1}}});
  const auto point = statistics({{"Statistics", {"Sum", "SampleCount", "Minimum", "Maximum"}}})
                         .at("Datapoints")
                         .at(0);
  EXPECT_EQ(point.at("Sum").to_number<double>(), 27);
  EXPECT_EQ(point.at("SampleCount").to_number<double>(), 7);
  EXPECT_EQ(point.at("Minimum").to_number<double>(), 1);
  EXPECT_EQ(point.at("Maximum").to_number<double>(), 7);
}

TEST_F(CloudWatchTest, PercentilesAreExtendedStatistics) {
  for (int i = 0; i <= 100; ++i) put({{"Value", i}, {"Timestamp", start + 1}});
  const auto out = statistics({{"ExtendedStatistics", {"p50", "p99"}}});
  EXPECT_EQ(out.at("Datapoints").at(0).at("ExtendedStatistics").at("p99").to_number<double>(), 99);
  EXPECT_EQ(data(query("p50")).at("MetricDataResults").at(0).at("Values").at(0).to_number<double>(),
            50);
}

TEST_F(CloudWatchTest, QueriesAreNewestFirstUnlessAsked) {
  put({{"Value", 1}, {"Timestamp", start}});
  put({{"Value", 2}, {"Timestamp", start + 120}});
  const auto result = data(query("Average")).at("MetricDataResults").at(0);
  EXPECT_EQ(result.at("Id").as_string(), "q");
  EXPECT_EQ(result.at("StatusCode").as_string(), "Complete");
  EXPECT_EQ(result.at("Values").at(0).to_number<double>(), 2);
  EXPECT_EQ(result.at("Timestamps").at(1).to_number<double>(), start);
  const auto ascending = data(query("Average"), {{"ScanBy", "TimestampAscending"}});
  EXPECT_EQ(ascending.at("MetricDataResults").at(0).at("Values").at(0).to_number<double>(), 1);
}

TEST_F(CloudWatchTest, ExpressionsAndRareStatisticsAreRefused) {
  EXPECT_THAT(refusal([&] { data({{"Id", "e"}, {"Expression", "m1*2"}}); }),
              HasSubstr("expressions are not supported"));
  EXPECT_THAT(refusal([&] { data({{"Id", "e"}}); }), HasSubstr("MetricStat is missing"));
  EXPECT_THAT(refusal([&] { data(query("tm90")); }), HasSubstr("'tm90' is not supported"));
  EXPECT_THAT(refusal([&] { statistics({{"ExtendedStatistics", {"IQM"}}}); }),
              HasSubstr("'IQM' is not supported"));
}

TEST_F(CloudWatchTest, BoundsOfAQueryAreChecked) {
  const auto code = [&](base::JsonObject more) {
    return refusal([&] {
      base::JsonObject in = statistics_input(std::move(more));
      if (!in.contains("Statistics")) in["Statistics"] = base::JsonArray{"Sum"};
      cloudwatch("GetMetricStatistics", in);
    });
  };
  EXPECT_THAT(code({{"Period", 7}}), StartsWith("InvalidParameterValue"));
  EXPECT_THAT(code({{"Period", 0}}), StartsWith("InvalidParameterValue"));
  EXPECT_THAT(code({{"EndTime", start}}), StartsWith("InvalidParameterValue"));
  EXPECT_THAT(code({{"EndTime", start + 60 * 1441}}), StartsWith("InvalidParameterCombination"));
  EXPECT_THAT(code({{"Statistics", base::JsonArray()}}), StartsWith("InvalidParameterCombination"));
  EXPECT_THAT(code({{"EndTime", 1e300}}), StartsWith("InvalidParameterValue"));
  EXPECT_EQ(code({{"Period", 1}, {"EndTime", start + 60}}), "");
}

TEST_F(CloudWatchTest, NothingIsWrittenWhenOneDatumIsWrong) {
  const auto two = [&](base::Json second) {
    base::JsonArray list{base::JsonObject{{"MetricName", "m"}, {"Value", 1}, {"Timestamp", start}},
                         std::move(second)};
    return refusal([&] {
      cloudwatch("PutMetricData", {{"Namespace", "n"}, {"MetricData", std::move(list)}});
    });
  };
  EXPECT_THAT(two({{"MetricName", "m"}}), StartsWith("MissingParameter"));
  EXPECT_THAT(two({{"MetricName", "m"}, {"Values", {1, 2}}, {"Counts", {1}}}),
              StartsWith("InvalidParameterValue"));
  EXPECT_THAT(two({{"MetricName", "m"}, {"StatisticValues", {{"Sum", 1}}}}),
              StartsWith("MissingParameter"));
  EXPECT_TRUE(statistics({{"Statistics", {"Sum"}}}).at("Datapoints").as_array().empty());
}

TEST_F(CloudWatchTest, MetricsAreListedByWhatTheyHave) {
  put({{"Value", 1}, {"Dimensions", {{{"Name", "Host"}, {"Value", "a"}}}}});
  put({{"Value", 1}});
  EXPECT_EQ(cloudwatch("ListMetrics", {{"Namespace", "n"}}).at("Metrics").as_array().size(), 2u);
  const auto one = cloudwatch("ListMetrics", {{"Dimensions", {{{"Name", "Host"}}}}});
  ASSERT_EQ(one.at("Metrics").as_array().size(), 1u);
  EXPECT_EQ(one.at("Metrics").at(0).at("Dimensions").at(0).at("Value").as_string(), "a");
  EXPECT_TRUE(cloudwatch("ListMetrics", {{"MetricName", "x"}}).at("Metrics").as_array().empty());
}

TEST_F(CloudWatchTest, UnitsAreKept) {
  put({{"Value", 5}, {"Unit", "Percent"}, {"Timestamp", start}});
  put({{"Value", 7}, {"Unit", "Bytes/Second"}, {"Timestamp", start}});
  EXPECT_EQ(statistics({{"Statistics", {"Sum"}}}).at("Datapoints").as_array().size(), 2u);
  const auto bytes = statistics({{"Statistics", {"Sum"}}, {"Unit", "Bytes/Second"}});
  ASSERT_EQ(bytes.at("Datapoints").as_array().size(), 1u);
  EXPECT_EQ(bytes.at("Datapoints").at(0).at("Unit").as_string(), "Bytes/Second");
}

}  // namespace
}  // namespace meridian::region::telemetry
