// SPDX-License-Identifier: Apache-2.0
#include "region/batch/fixture.h"
#include "region/batch/service/service_jobs.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::HasSubstr;

// A SageMaker whose trainings end when they are told to.
class ServiceJobsTest : public BatchTest {
 protected:
  ServiceJobsTest() {
    aws::Service sagemaker{.name = "sagemaker", .operations = {}};
    sagemaker.operations["CreateTrainingJob"] = [this](const auto&, const JsonObject& input) {
      const std::string name = base::string_or(input, "TrainingJobName");
      if (trainings_.contains(name)) throw aws::ApiError("ResourceInUse", "there is one");
      if (refuse_next_) throw aws::ApiError("ValidationException", "no such instance type");
      trainings_[name] = {{"TrainingJobStatus", "InProgress"}, {"SecondaryStatus", "Starting"}};
      return Json(JsonObject{});
    };
    sagemaker.operations["DescribeTrainingJob"] = [this](const auto&, const JsonObject& input) {
      return Json(trainings_.at(base::string_or(input, "TrainingJobName")));
    };
    sagemaker.operations["StopTrainingJob"] = [this](const auto&, const JsonObject& input) {
      trainings_.at(base::string_or(input, "TrainingJobName"))["TrainingJobStatus"] = "Stopped";
      return Json(JsonObject{});
    };
    Settings settings;
    settings.directory = directory_.path();
    settings.step_kind = "service";
    jobs_ = std::make_unique<ServiceJobs>(Parts{*store_, clock_, random_, identity_, engine_,
                                                *telemetry_, capacity_, *runner_, *activities_},
                                          settings, std::move(sagemaker));
    jobs_->register_steps(steps_);
    service_.operations.merge(jobs_->service().operations);
    call("CreateServiceEnvironment",
         {{"serviceEnvironmentName", "four"},
          {"serviceEnvironmentType", "SAGEMAKER_TRAINING"},
          {"capacityLimits",
           JsonArray{JsonObject{{"maxCapacity", 4}, {"capacityUnit", "NUM_INSTANCES"}}}}});
    call("CreateJobQueue", {{"jobQueueName", "trainings"},
                            {"priority", 1},
                            {"jobQueueType", "SAGEMAKER_TRAINING"},
                            {"serviceEnvironmentOrder",
                             JsonArray{JsonObject{{"order", 1}, {"serviceEnvironment", "four"}}}}});
  }

  std::string submit_training(int instances, JsonObject more = {}) {
    more["jobName"] = "t";
    more["jobQueue"] = "trainings";
    more["serviceJobType"] = "SAGEMAKER_TRAINING";
    more["serviceRequestPayload"] = base::to_text(
        JsonObject{{"TrainingJobName", "net"}, {"ResourceConfig", {{"InstanceCount", instances}}}});
    const std::string id = base::string_or(call("SubmitServiceJob", more), "jobId");
    pass(base::Duration(1'100));
    return id;
  }
  Json job(const std::string& id) { return call("DescribeServiceJob", {{"jobId", id}}); }
  std::string state(const std::string& id) { return base::string_or(job(id), "status"); }
  JsonObject& training(const std::string& id, int attempt = 1) {
    return trainings_.at("net-" + id.substr(0, 8) + "-" + std::to_string(attempt));
  }
  void end(const std::string& id, const char* status, int attempt = 1,
           const char* reason = nullptr) {
    training(id, attempt)["TrainingJobStatus"] = status;
    if (reason != nullptr) training(id, attempt)["FailureReason"] = reason;
    pass(base::Duration(2'100));
  }

  std::map<std::string, JsonObject> trainings_;
  bool refuse_next_ = false;
  std::unique_ptr<ServiceJobs> jobs_;
};

TEST_F(ServiceJobsTest, ATrainingWaitsForItsInstancesAndRuns) {
  const std::string first = submit_training(3);
  const std::string second = submit_training(2);
  EXPECT_EQ(state(first), "STARTING");
  EXPECT_EQ(state(second), "RUNNABLE");
  EXPECT_THAT(base::string_or(job(second), "statusReason"),
              HasSubstr("requested 2 instances, free 1 of 4 in service environment 'four'"));
  training(first)["SecondaryStatus"] = "Training";
  pass(base::Duration(1'100));
  EXPECT_EQ(state(first), "RUNNING");
  end(first, "Completed");
  EXPECT_EQ(state(first), "SUCCEEDED");
  EXPECT_EQ(state(second), "STARTING");
  EXPECT_THAT(base::to_text(job(second).at("latestAttempt")),
              HasSubstr("training-job/net-" + second.substr(0, 8) + "-1"));
}

TEST_F(ServiceJobsTest, AnInternalErrorIsMadeAgainAndAnotherFailureIsNot) {
  const std::string id = submit_training(
      1, {{"retryStrategy",
           {{"attempts", 3},
            {"evaluateOnExit",
             JsonArray{JsonObject{{"action", "RETRY"},
                                  {"onStatusReason",
                                   "Received status from SageMaker:InternalServerError*"}},
                       JsonObject{{"action", "EXIT"}, {"onStatusReason", "*"}}}}}}});
  end(id, "Failed", 1, "InternalServerError: again");
  EXPECT_EQ(state(id), "STARTING");
  end(id, "Failed", 2, "AlgorithmError: no");
  EXPECT_EQ(state(id), "FAILED");
  EXPECT_EQ(job(id).at("attempts").as_array().size(), 2u);
}

TEST_F(ServiceJobsTest, TerminateStopsTheTraining) {
  const std::string running = submit_training(4), waiting = submit_training(1);
  for (const std::string& id : {running, waiting})
    call("TerminateServiceJob", {{"jobId", id}, {"reason", "enough"}});
  pass(base::Duration(3'000));
  for (const std::string& id : {running, waiting}) {
    EXPECT_EQ(state(id), "FAILED");
    EXPECT_EQ(base::string_or(job(id), "statusReason"), "enough");
  }
  EXPECT_EQ(base::string_or(training(running), "TrainingJobStatus"), "Stopped");
  EXPECT_EQ(trainings_.size(), 1u);
}

TEST_F(ServiceJobsTest, APayloadThatIsRefusedFailsTheJob) {
  refuse_next_ = true;
  const std::string id = submit_training(1);
  EXPECT_EQ(state(id), "FAILED");
  EXPECT_THAT(base::string_or(job(id), "statusReason"), HasSubstr("no such instance type"));
}

TEST_F(ServiceJobsTest, ATokenGivenTwiceIsOneJob) {
  const std::string first = submit_training(1, {{"clientToken", "once"}});
  EXPECT_EQ(submit_training(1, {{"clientToken", "once"}}), first);
}

TEST_F(ServiceJobsTest, HigherPriorityGoesFirst) {
  const std::string holder = submit_training(4);
  const std::string low = submit_training(4), high = submit_training(4);
  call("UpdateServiceJob", {{"jobId", high}, {"schedulingPriority", 9}});
  end(holder, "Completed");
  EXPECT_EQ(state(high), "STARTING");
  EXPECT_EQ(state(low), "RUNNABLE");
}

TEST_F(ServiceJobsTest, QueuesTakeTheirOwnKindOfJobs) {
  define("d");
  EXPECT_THAT(
      refusal("SubmitJob", {{"jobName", "x"}, {"jobQueue", "trainings"}, {"jobDefinition", "d"}}),
      HasSubstr("use SubmitServiceJob"));
  EXPECT_THAT(refusal("SubmitServiceJob", {{"jobName", "x"},
                                           {"jobQueue", "default"},
                                           {"serviceJobType", "SAGEMAKER_TRAINING"},
                                           {"serviceRequestPayload", "{}"}}),
              HasSubstr("SAGEMAKER_TRAINING"));
}

}  // namespace
}  // namespace meridian::region::batch
