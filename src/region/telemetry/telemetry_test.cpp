// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/telemetry.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "run/log_file.h"

namespace meridian::region::telemetry {
namespace {

const std::string group = "/aws/sagemaker/TrainingJobs";

class TelemetryTest : public testing::Test {
 protected:
  TelemetryTest() { open(); }

  void open() {
    telemetry.reset();
    telemetry = std::make_unique<Telemetry>(
        *store, clock, Telemetry::Settings{"000000000000", "us-west-2", directory.path()});
  }
  InstanceStream instance(const std::string& host, std::vector<MetricDefinition> metrics) {
    const std::string stream = "job/" + host + "-1700000000";
    return {group, stream, telemetry->log_file(group, stream), "job", host, std::move(metrics)};
  }
  void print(const InstanceStream& stream, std::string_view text) {
    run::LogFileWriter writer(stream.file, clock);
    writer.append(text);
  }
  base::Json call(const aws::Service& service, const std::string& operation,
                  const base::JsonObject& in) {
    return service.operations.at(operation)({}, in);
  }
  base::Json logs(const std::string& operation, base::JsonObject in) {
    return call(telemetry->logs_service(), operation, in);
  }
  base::Json cloudwatch(const std::string& operation, base::JsonObject in) {
    return call(telemetry->cloudwatch_service(), operation, in);
  }
  std::string code_of(const std::string& operation, base::JsonObject in) {
    try {
      logs(operation, std::move(in));
    } catch (const aws::ApiError& error) {
      return error.aws_code() + ": " + error.message();
    }
    return "";
  }
  base::Json statistics(const std::string& name) {
    return cloudwatch("GetMetricStatistics",
                      {{"Namespace", group},
                       {"MetricName", name},
                       {"Dimensions", base::JsonArray{base::JsonObject{{"Name", "TrainingJobName"},
                                                                       {"Value", "job"}}}},
                       {"StartTime", 1'699'999'980},
                       {"EndTime", 1'700'003'580},
                       {"Period", 60},
                       {"Statistics", base::JsonArray{"Average", "SampleCount", "Sum"}}});
  }

  base::TempDir directory;
  base::ManualClock clock;
  std::unique_ptr<store::Store> store = store::open_in_memory();
  std::unique_ptr<Telemetry> telemetry;
};

TEST_F(TelemetryTest, LinesBecomeMetricsAndEvents) {
  const auto stream = instance("algo-1", {{"loss", "loss=([0-9.e-]+)"}});
  telemetry->follow(stream);
  print(stream, "start\nloss=0.5\nloss=5e-3\ttab\n");
  telemetry->finish(group, stream.stream);

  const auto final = telemetry->final_metrics("job");
  ASSERT_EQ(final.size(), 1u);
  EXPECT_EQ(final[0].name, "loss");
  EXPECT_DOUBLE_EQ(final[0].value, 5e-3);
  EXPECT_EQ(telemetry->metric_doctor("job"), std::nullopt);

  const auto points = statistics("loss").at("Datapoints").as_array();
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].at("SampleCount").to_number<double>(), 2);
  EXPECT_DOUBLE_EQ(points[0].at("Sum").to_number<double>(), 0.505);

  const auto events =
      logs("GetLogEvents",
           {{"logGroupName", group}, {"logStreamName", stream.stream}, {"startFromHead", true}});
  ASSERT_EQ(events.at("events").as_array().size(), 3u);
  EXPECT_EQ(events.at("events").at(2).at("message").as_string(), "loss=5e-3#011tab");
  EXPECT_EQ(events.at("events").at(0).at("timestamp").as_int64(), 1'700'000'000'000);
}

}  // namespace
}  // namespace meridian::region::telemetry
