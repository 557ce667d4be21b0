// A region's telemetry in a temporary directory, for the tests of this folder.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "aws/service.h"
#include "base/file.h"
#include "base/json.h"
#include "region/telemetry/telemetry.h"
#include "run/log_file.h"

namespace meridian::region::telemetry {

inline const std::string training_group = "/aws/sagemaker/TrainingJobs";

class TestRegion : public testing::Test {
 protected:
  TestRegion() { restart(); }

  // A new daemon over the same store and files.
  void restart() {
    telemetry.reset();
    telemetry = std::make_unique<Telemetry>(
        *store, clock, Telemetry::Settings{"000000000000", "us-west-2", directory.path()});
  }

  InstanceStream instance(const std::string& host, std::vector<MetricDefinition> metrics = {}) {
    const std::string stream = "job/" + host + "-1700000000";
    return {training_group, stream, telemetry->log_file(training_group, stream),
            "job",          host,   std::move(metrics)};
  }
  void print(const InstanceStream& stream, std::string_view text) {
    run::LogFileWriter writer(stream.file, clock);
    writer.append(text);
  }
  void run_to_end(const InstanceStream& stream, std::string_view text) {
    telemetry->follow(stream);
    print(stream, text);
    telemetry->finish(stream.group, stream.stream);
  }

  base::Json logs(const std::string& operation, base::JsonObject in) {
    return telemetry->logs_service().operations.at(operation)({}, in);
  }
  base::Json cloudwatch(const std::string& operation, base::JsonObject in) {
    return telemetry->cloudwatch_service().operations.at(operation)({}, in);
  }
  // "Code: message", or "" when it is not refused.
  template <class Call>
  std::string refusal(Call call) {
    try {
      call();
    } catch (const aws::ApiError& error) {
      return error.aws_code() + ": " + error.message();
    }
    return "";
  }
  // Datapoints of the job's metric around the clock's start.
  base::JsonArray datapoints(const std::string& metric) {
    base::JsonArray dimensions{base::JsonObject{{"Name", "TrainingJobName"}, {"Value", "job"}}};
    const base::Json out =
        cloudwatch("GetMetricStatistics", {{"Namespace", training_group},
                                           {"MetricName", metric},
                                           {"Dimensions", std::move(dimensions)},
                                           {"StartTime", 1'699'999'980},
                                           {"EndTime", 1'700'003'580},
                                           {"Period", 60},
                                           {"Statistics", {"SampleCount", "Sum", "Average"}}});
    return out.at("Datapoints").as_array();
  }

  base::TempDir directory;
  base::ManualClock clock;
  std::unique_ptr<store::Store> store = store::open_in_memory();
  std::unique_ptr<Telemetry> telemetry;
};

}  // namespace meridian::region::telemetry
