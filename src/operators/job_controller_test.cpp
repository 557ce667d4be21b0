// SPDX-License-Identifier: Apache-2.0
#include "operators/job_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/conditions.h"
#include "operators/job_status.h"
#include "operators/test_bed.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonObject;
using testing::HasSubstr;

class JobControllerTest : public testing::Test, public TestBed {
 protected:
  JobControllerTest() {
    steps.add(kind.plural, [this](const control::Key& key) { return controller.step(key); });
  }

  Json apply(JsonObject spec = {}) {
    if (!spec.contains("region")) spec["region"] = "us-west-2";
    return api.create(kind.resource(), {{"apiVersion", "sagemaker.aws.amazon.com/v1"},
                                        {"kind", "TrainingJob"},
                                        {"metadata", {{"name", "a"}, {"namespace", "default"}}},
                                        {"spec", std::move(spec)}});
  }
  Json look() {
    runner.add(key);
    runner.run_for(base::Duration(1'500));
    return api.get(kind.resource(), {"default", "a"});
  }
  Json after(base::Duration span) {
    runner.run_for(span);
    return api.get(kind.resource(), {"default", "a"});
  }
  static std::string status(const Json& object, std::string_view field) {
    const Json* status = base::find(object, "status");
    return status == nullptr ? "" : base::string_or(*status, field);
  }
  const Kind& kind = get_kind("TrainingJob");
  JobController controller{kind, resources(kind), parts, {.installation = "home"}};
  const control::Key key = "trainingjobs/default/a";
};

TEST_F(JobControllerTest, AnAppliedJobIsCreatedFollowedAndComplete) {
  const Json applied = apply({{"roleArn", "r"}});
  Json object = look();
  const std::string name = status(object, "sageMakerTrainingJobName");
  EXPECT_EQ(name, remote_name("a", kube::uid_of(applied), 63));
  EXPECT_EQ(status(object, "trainingJobStatus"), "InProgress");
  EXPECT_EQ(condition_status(object, "Reconciling"), "True");
  EXPECT_EQ(*base::find(object, "spec"), *base::find(applied, "spec"))
      << "spec is never written to";
  EXPECT_THAT(base::to_text(remotes.job(name)["Tags"]), HasSubstr("home/default/TrainingJob/a/"));

  clock.advance(base::Duration(1'000));
  remotes.put(name, "Completed",
              {{"SecondaryStatus", "Completed"},
               {"BillableTimeInSeconds", 42},
               {"ModelArtifacts", {{"S3ModelArtifacts", "s3://b/m.tar.gz"}}}});
  object = after(base::Duration(3'000));
  EXPECT_EQ(status(object, "trainingJobStatus"), "Completed");
  EXPECT_EQ(status(object, "modelPath"), "s3://b/m.tar.gz");
  EXPECT_EQ(condition_status(object, "Complete"), "True");
  EXPECT_EQ(condition_status(object, "Reconciling"), "False");
  EXPECT_EQ(*base::find_path(object, "status.billableTimeInSeconds"), Json(42));
  EXPECT_THAT(event_reasons(), testing::UnorderedElementsAre("Created", "InProgress", "Completed"));
}

TEST_F(JobControllerTest, AChangeCostsOneDescriptionAndAQuietHourNone) {
  apply();
  const std::string name = status(look(), "sageMakerTrainingJobName");
  const int before = remotes.calls["DescribeTrainingJob"];
  EXPECT_EQ(before, 1);
  after(base::Duration(600'000));
  EXPECT_EQ(remotes.calls["DescribeTrainingJob"], before);
  EXPECT_LE(remotes.calls["ListTrainingJobs"], 602);
  remotes.put(name, "InProgress", {{"SecondaryStatus", "Training"}});
  after(base::Duration(2'000));
  EXPECT_EQ(remotes.calls["DescribeTrainingJob"], before + 1);
}

TEST_F(JobControllerTest, ACrashBetweenCreateAndRecordMakesNoSecondJob) {
  apply();
  remotes.forget_answer = true;
  EXPECT_EQ(status(look(), "trainingJobStatus"), "ReconcilingTrainingJob");
  const Json object = after(base::Duration(10'000));
  EXPECT_EQ(status(object, "trainingJobStatus"), "InProgress");
  EXPECT_EQ(remotes.size(), 1u);
}

TEST_F(JobControllerTest, ATakenNameThatIsNotOursFailsAndSaysWhatToDo) {
  remotes.put("mine", "InProgress");
  apply({{"trainingJobName", "mine"}});
  const Json object = look();
  EXPECT_EQ(status(object, "reason"), "NameInUse");
  EXPECT_EQ(condition_status(object, "Failed"), "True");
  EXPECT_THAT(status(object, "additional"), HasSubstr("ifExists: adopt"));
  EXPECT_THAT(event_reasons(), testing::Contains("NameInUse"));
}

TEST_F(JobControllerTest, ATakenNameIsAdoptedWhenTheSpecSaysSo) {
  remotes.put("mine", "InProgress");
  apply({{"trainingJobName", "mine"}, {"ifExists", "adopt"}});
  EXPECT_EQ(status(look(), "trainingJobStatus"), "InProgress");
}

TEST_F(JobControllerTest, ARefusedSpecIsTerminalAtOnceAndAMendedOneIsTriedAgain) {
  apply();
  remotes.fail_next_create = aws::ApiError("ValidationException", "no such role", 400);
  Json object = look();
  EXPECT_EQ(condition_status(object, "Failed"), "True");
  EXPECT_EQ(status(object, "additional"), "no such role");
  EXPECT_EQ(condition_status(after(base::Duration(60'000)), "Failed"), "True");
  EXPECT_EQ(remotes.calls["CreateTrainingJob"], 1);

  object.as_object()["spec"].as_object()["roleArn"] = "better";
  api.update(kind.resource(), object);
  object = look();
  EXPECT_EQ(status(object, "trainingJobStatus"), "InProgress");
  EXPECT_EQ(condition_status(object, "Failed"), "");
}

TEST_F(JobControllerTest, AThrottledRegionIsTriedLaterEachTimeAndStatusSaysWhen) {
  apply();
  remotes.fail_all = aws::ApiError("ThrottlingException", "Rate exceeded", 400);
  const Json object = look();
  EXPECT_EQ(status(object, "trainingJobStatus"), "ReconcilingTrainingJob");
  EXPECT_EQ(status(object, "reason"), "ThrottlingException");
  EXPECT_THAT(status(object, "additional"), HasSubstr("next attempt at "));
  after(base::Duration(60'000));
  EXPECT_LE(remotes.calls["CreateTrainingJob"], 5);  // after 0, 5, 15, 35 s
  EXPECT_GE(remotes.calls["CreateTrainingJob"], 4);
  remotes.fail_all.reset();
  EXPECT_EQ(status(after(base::Duration(300'000)), "trainingJobStatus"), "InProgress");
}

TEST_F(JobControllerTest, ItsOwnStatusDoesNotBringTheNextAttemptForward) {
  apply();
  remotes.fail_all = aws::ApiError("ThrottlingException", "Rate exceeded", 400);
  for (int i = 0; i < 60; ++i) {  // as the watch does after each write
    runner.add(key);
    runner.run_for(base::Duration(1'000));
  }
  EXPECT_LE(remotes.calls["CreateTrainingJob"], 5);
  Json object = api.get(kind.resource(), {"default", "a"});
  object.as_object()["spec"].as_object()["roleArn"] = "better";
  remotes.fail_all.reset();
  api.update(kind.resource(), object);
  EXPECT_EQ(status(look(), "trainingJobStatus"), "InProgress") << "a new spec is tried at once";
}

TEST_F(JobControllerTest, AnUnknownRegionIsATerminalError) {
  apply({{"region", "nowhere"}});
  const Json object = look();
  EXPECT_EQ(status(object, "reason"), "UnknownRegion");
  EXPECT_EQ(condition_status(object, "Failed"), "True");
}

TEST_F(JobControllerTest, ARecordThatIsDeletedBehindItIsNotMadeAgain) {
  apply();
  const std::string name = status(look(), "sageMakerTrainingJobName");
  remotes.remove(name);
  const Json object = after(base::Duration(3'700'000));  // the hourly look
  EXPECT_EQ(status(object, "reason"), "RemoteDeleted");
  EXPECT_EQ(remotes.calls["CreateTrainingJob"], 1);
}

TEST_F(JobControllerTest, ADeletedResourceStopsItsJobAndGoesWhenThatHasEnded) {
  apply();
  const std::string name = status(look(), "sageMakerTrainingJobName");
  api.remove(kind.resource(), {"default", "a"});
  Json object = look();
  EXPECT_EQ(status(object, "trainingJobStatus"), "Stopping");
  clock.advance(base::Duration(1'000));
  remotes.put(name, "Stopped");
  runner.run_for(base::Duration(3'000));
  EXPECT_FALSE(api.find(kind.resource(), {"default", "a"}));
}

TEST_F(JobControllerTest, ADeletionEndsEvenWhenTheRegionIsSilent) {
  apply();
  look();
  remotes.fail_all = aws::ApiError("ServiceUnavailable", "down", 503);
  api.remove(kind.resource(), {"default", "a"});
  runner.add(key);
  runner.run_for(base::Duration(1'000'000));
  EXPECT_FALSE(api.find(kind.resource(), {"default", "a"}));
  EXPECT_THAT(event_reasons(), testing::Contains("Abandoned"));
}

}  // namespace
}  // namespace meridian::operators
