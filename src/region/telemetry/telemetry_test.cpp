// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/telemetry.h"

#include <gmock/gmock.h>

#include <fstream>

#include "region/telemetry/host_metrics.h"
#include "region/telemetry/test_region.h"

namespace meridian::region::telemetry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<MetricDefinition> loss = {{"loss", "loss=(\\S+)"}};

class TelemetryTest : public TestRegion {
 protected:
  double count(const std::string& metric) {
    double out = 0;
    for (const auto& datapoint : datapoints(metric))
      out += datapoint.at("SampleCount").to_number<double>();
    return out;
  }
};

TEST_F(TelemetryTest, LinesBecomeMetricsAndEvents) {
  const auto stream = instance("algo-1", loss);
  run_to_end(stream, "start\nloss=0.5\nloss=5e-3\ttab\n");
  const auto final = telemetry->final_metrics("job");
  ASSERT_EQ(final.size(), 1u);
  EXPECT_EQ(final[0].name, "loss");
  EXPECT_DOUBLE_EQ(final[0].value, 5e-3);
  EXPECT_EQ(final[0].at, clock.now());
  EXPECT_EQ(telemetry->metric_doctor("job"), std::nullopt);
  const auto points = datapoints("loss");
  ASSERT_EQ(points.size(), 1u);
  EXPECT_DOUBLE_EQ(points[0].at("Sum").to_number<double>(), 0.505);
  EXPECT_EQ(points[0].at("Timestamp").to_number<double>(), 1'699'999'980);
  EXPECT_EQ(telemetry->last_lines(stream.group, stream.stream, 2),
            (std::vector<std::string>{"loss=0.5", "loss=5e-3\ttab"}));
}

TEST_F(TelemetryTest, TheFollowerReadsWithoutBeingAsked) {
  const auto stream = instance("algo-1", loss);
  telemetry->follow(stream);
  print(stream, "loss=0.5\n");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (telemetry->final_metrics("job").empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(telemetry->final_metrics("job").size(), 1u);
}

TEST_F(TelemetryTest, FollowingTwiceReadsOnce) {
  const auto stream = instance("algo-1", loss);
  telemetry->follow(stream);
  telemetry->follow(stream);
  run_to_end(stream, "loss=1\n");
  run_to_end(stream, "loss=2\n");
  EXPECT_EQ(count("loss"), 2);
  EXPECT_EQ(telemetry->final_metrics("job").at(0).value, 2);
}

TEST_F(TelemetryTest, ARestartGoesOnByItself) {
  const auto stream = instance("algo-1", loss);
  telemetry->follow(stream);
  print(stream, "loss=1\nloss=2\n");
  restart();
  print(stream, "loss=3\n");
  restart();
  telemetry->follow(stream);
  telemetry->finish(stream.group, stream.stream);
  EXPECT_EQ(count("loss"), 3);
  EXPECT_EQ(telemetry->final_metrics("job").at(0).value, 3);
}

// A daemon that is killed has written points that its record does not know of.
TEST_F(TelemetryTest, PointsDoNotDoubleWhenTheRecordIsOlderThanThey) {
  const auto stream = instance("algo-1", loss);
  const std::string key =
      "000000000000/us-west-2/logs/stream/" + stream.group + ":" + stream.stream;
  telemetry->follow(stream);
  print(stream, "loss=1\n");
  restart();  // saves
  const auto before = store->find(key);
  ASSERT_TRUE(before.has_value());
  print(stream, "loss=2\nloss=3\n");
  telemetry->finish(stream.group, stream.stream);
  telemetry.reset();
  ASSERT_TRUE(store->commit({store::put(key, before->body, before->index)}).ok());
  restart();
  print(stream, "loss=4\n");
  telemetry->finish(stream.group, stream.stream);
  EXPECT_EQ(count("loss"), 4);
  const auto events = logs(
      "GetLogEvents",
      {{"logGroupName", stream.group}, {"logStreamName", stream.stream}, {"startFromHead", true}});
  EXPECT_EQ(events.at("events").as_array().size(), 4u);
}

TEST_F(TelemetryTest, LostSegmentsAreMadeAgainFromTheLog) {
  const auto stream = instance("algo-1", loss);
  run_to_end(stream, "loss=1\nloss=2\n");
  telemetry.reset();
  base::remove_tree(directory.path() / "metrics");
  restart();
  run_to_end(stream, "loss=3\n");
  EXPECT_EQ(count("loss"), 3);
}

TEST_F(TelemetryTest, TheLastReporterWinsAmongHosts) {
  const auto one = instance("algo-1", loss), two = instance("algo-2", loss);
  run_to_end(two, "loss=2\n");
  clock.advance(base::Duration(1000));
  run_to_end(one, "loss=1\n");
  EXPECT_EQ(telemetry->final_metrics("job").at(0).value, 1);
  EXPECT_EQ(count("loss"), 2);
  EXPECT_TRUE(telemetry->final_metrics("other").empty());
}

TEST_F(TelemetryTest, TheLastLineIsTheFinalValueAlsoAfterTheClockWentBack) {
  const auto stream = instance("algo-1", loss);
  telemetry->follow(stream);
  print(stream, "loss=3\n");
  clock.jump_wall_clock(base::Duration(-15'000));
  print(stream, "loss=1\n");
  telemetry->finish(stream.group, stream.stream);
  EXPECT_EQ(telemetry->final_metrics("job").at(0).value, 1);
  EXPECT_EQ(count("loss"), 2);
}

TEST_F(TelemetryTest, TheDoctorReadsTheJobsOwnLines) {
  run_to_end(instance("algo-1", {{"acc", "Accuracy=(\\S+)"}}), "epoch 1\naccuracy=0.5\n");
  EXPECT_THAT(telemetry->metric_doctor("job").value_or(""),
              testing::AllOf(HasSubstr("none of 2 lines"), HasSubstr("\n    accuracy=0.5"),
                             HasSubstr("upper and lower case")));
}

TEST_F(TelemetryTest, WarningsAreOnePerDefinitionAndKind) {
  const std::vector<MetricDefinition> cat = {{"cat", "cat=(.*);"}};
  run_to_end(instance("algo-1", cat), "cat=dog;\ncat=cow;\n");
  run_to_end(instance("algo-2", cat), "cat=hen;\n");
  EXPECT_THAT(telemetry->metric_warnings("job"),
              ElementsAre(testing::AllOf(HasSubstr("\"dog\""), HasSubstr("3 so far"))));
  EXPECT_THAT(telemetry->final_metrics("job"), IsEmpty());
}

TEST_F(TelemetryTest, ALineThatIsNotWholeYetIsNotTaken) {
  const auto stream = instance("algo-1", loss);
  telemetry->follow(stream);
  std::ofstream(stream.file, std::ios::app) << "1700000000000 - loss=1";
  telemetry->finish(stream.group, stream.stream);
  EXPECT_THAT(telemetry->final_metrics("job"), IsEmpty());
  std::ofstream(stream.file, std::ios::app) << "25\n";
  run_to_end(stream, "");
  EXPECT_EQ(telemetry->final_metrics("job").at(0).value, 125);
}

TEST_F(TelemetryTest, ThePlatformsOwnLinesAreEvents) {
  telemetry->log("/meridian/platform", "us-west-2", "two\nlines");
  telemetry->log("/meridian/platform", "us-west-2", "more");
  restart();
  EXPECT_THAT(telemetry->last_lines("/meridian/platform", "us-west-2", 9),
              ElementsAre("two\nlines", "more"));
  EXPECT_THAT(telemetry->last_lines("/meridian/platform", "absent", 9), IsEmpty());
}

TEST_F(TelemetryTest, HostMetricsHaveTheirHostsDimension) {
  put_host_metrics(*telemetry, "job", "algo-1", {.cpu = 150, .memory = 25, .disk = 3});
  put_gpu_metrics(*telemetry, "job", "algo-1", {.utilization = 40, .memory = std::nullopt});
  base::JsonArray dimensions{base::JsonObject{{"Name", "Host"}, {"Value", "job/algo-1"}}};
  const auto listed = cloudwatch("ListMetrics", {{"Dimensions", dimensions}});
  std::vector<std::string> names;
  for (const auto& metric : listed.at("Metrics").as_array())
    names.emplace_back(base::view(metric.at("MetricName").as_string()));
  EXPECT_THAT(names, testing::UnorderedElementsAre("CPUUtilization", "MemoryUtilization",
                                                   "DiskUtilization", "GPUUtilization"));
  const auto out = cloudwatch("GetMetricStatistics", {{"Namespace", training_group},
                                                      {"MetricName", "CPUUtilization"},
                                                      {"Dimensions", dimensions},
                                                      {"StartTime", 1'699'999'000},
                                                      {"EndTime", 1'700'001'000},
                                                      {"Period", 60},
                                                      {"Statistics", {"Maximum"}}});
  const auto& point = out.at("Datapoints").at(0);
  EXPECT_EQ(point.at("Maximum").to_number<double>(), 150);
  EXPECT_EQ(point.at("Unit").as_string(), "Percent");
}

}  // namespace
}  // namespace meridian::region::telemetry
