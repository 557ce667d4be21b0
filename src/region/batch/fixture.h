// A Batch region without a machine: virtual time, fake instances. For tests.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/json.h"
#include "region/batch/batch.h"
#include "run/fake_engine.h"

namespace meridian::region::batch {

class BatchTest : public testing::Test {
 protected:
  explicit BatchTest(int vcpus = 8)
      : capacity_(*store_, clock_, "000000000000/us-west-2",
                  {{.name = "batch", .types = {kVcpu}, .count = vcpus}}) {
    restart();
  }

  // A new daemon over the same store and instances.
  void restart() {
    region_.reset();
    activities_.reset();
    runner_.reset();
    steps_ = control::StepTable();
    runner_ = std::make_unique<control::VirtualRunner>(clock_, steps_);
    activities_ = std::make_unique<control::InlineActivities>(*runner_);
    telemetry_ = std::make_unique<telemetry::Telemetry>(
        *store_, clock_,
        telemetry::Telemetry::Settings{"000000000000", "us-west-2", directory_.path() / "logs"});
    Settings settings;
    settings.directory = directory_.path();
    settings.endpoint_url = "http://127.0.0.1:8470";
    settings.probe = {[](const std::string& image) -> std::optional<std::string> {
                        if (image == "own:latest") return image;
                        return std::nullopt;
                      },
                      [](const std::string&, const std::string&) { return std::nullopt; },
                      [](const std::string&) { return std::vector<std::string>{"3.11.2"}; },
                      [](const std::string&) { return false; }};
    region_ = std::make_unique<BatchRegion>(Parts{*store_, clock_, random_, identity_, engine_,
                                                  *telemetry_, capacity_, *runner_, *activities_},
                                            settings);
    region_->register_steps(steps_);
    engine_.on_change([this](const std::string& id) { region_->instance_changed(id); });
    service_ = region_->service();
    region_->resume();
    settle();
  }

  base::Json call(std::string_view operation, const base::JsonObject& input) {
    const auto handler = service_.operations.find(operation);
    if (handler == service_.operations.end()) throw std::out_of_range(std::string(operation));
    return handler->second({}, input);
  }
  // Calls and returns "code: message" of the error.
  std::string refusal(std::string_view operation, const base::JsonObject& input) {
    try {
      call(operation, input);
    } catch (const aws::ApiError& error) {
      return error.aws_code() + ": " + error.message();
    }
    return "accepted";
  }
  void settle() { runner_->run_until_idle(); }
  void pass(base::Duration span) { runner_->run_for(span); }

  static base::JsonObject container(int vcpus = 1) {
    return {{"image", "host"},
            {"command", base::JsonArray{"/bin/work", "Ref::input"}},
            {"resourceRequirements",
             base::JsonArray{base::JsonObject{{"type", "VCPU"}, {"value", std::to_string(vcpus)}},
                             base::JsonObject{{"type", "MEMORY"}, {"value", "128"}}}}};
  }
  void define(const std::string& name, base::JsonObject more = {}, int vcpus = 1) {
    more["jobDefinitionName"] = name;
    more["type"] = "container";
    if (!more.contains("containerProperties")) more["containerProperties"] = container(vcpus);
    call("RegisterJobDefinition", more);
  }
  // The id of a job of definition "d" in the queue "default", or as `more` says.
  std::string submit(base::JsonObject more = {}) {
    if (!more.contains("jobName")) more["jobName"] = "j";
    if (!more.contains("jobQueue")) more["jobQueue"] = "default";
    if (!more.contains("jobDefinition")) more["jobDefinition"] = "d";
    const std::string id = base::string_or(call("SubmitJob", more), "jobId");
    settle();
    return id;
  }
  std::string submit_array(int size, base::JsonObject more = {}) {
    more["arrayProperties"] = base::JsonObject{{"size", size}};
    return submit(std::move(more));
  }
  base::Json describe(const std::string& id) {
    base::Json answer = call("DescribeJobs", {{"jobs", base::JsonArray{base::Json(id)}}});
    const auto& jobs = answer.at("jobs").as_array();
    return jobs.empty() ? base::Json() : jobs.front();
  }
  std::string status(const std::string& id) { return base::string_or(describe(id), "status"); }
  std::string reason(const std::string& id) {
    return base::string_or(describe(id), "statusReason");
  }
  // "us-west-2/batch/JOB/INDEX/ATTEMPT/node-N"
  static std::string instance(const std::string& job, int index = 0, int attempt = 1,
                              int node = 0) {
    return "us-west-2/batch/" + job + "/" + std::to_string(index) + "/" + std::to_string(attempt) +
           "/node-" + std::to_string(node);
  }
  void end(const std::string& instance, run::ExitStatus exit) {
    exit.at = clock_.now();
    engine_.end(instance, exit);
    settle();
  }

  base::TempDir directory_;
  base::ManualClock clock_;
  base::SeededRandom random_{1};
  std::unique_ptr<store::Store> store_ = store::open_in_memory();
  identity::Identity identity_{*store_, clock_, random_};
  run::FakeEngine engine_{clock_};
  capacity::Capacity capacity_;
  control::StepTable steps_;
  std::unique_ptr<control::VirtualRunner> runner_;
  std::unique_ptr<control::InlineActivities> activities_;
  std::unique_ptr<telemetry::Telemetry> telemetry_;
  std::unique_ptr<BatchRegion> region_;
  aws::Service service_;
};

}  // namespace meridian::region::batch
