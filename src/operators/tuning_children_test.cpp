// SPDX-License-Identifier: Apache-2.0
#include "operators/tuning_children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/mirror_object.h"
#include "operators/test_bed.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonObject;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class TuningChildrenTest : public testing::Test, public TestBed {
 protected:
  TuningChildrenTest() {
    steps.add(tuning.plural, [this](const control::Key& key) { return studies.step(key); });
    steps.add(training.plural, [this](const control::Key& key) { return jobs.step(key); });
    api.create(tuning.resource(), {{"apiVersion", "sagemaker.aws.amazon.com/v1"},
                                   {"kind", tuning.name},
                                   {"metadata", {{"name", "study"}, {"namespace", "ml"}}},
                                   {"spec", {{"region", "us-west-2"}}}});
    run(3);
    name = remotes.tunings.begin()->first;
  }
  void run(int seconds) { settle({&tuning, &training}, seconds); }
  void trial(const std::string& trial, const std::string& status) {
    clock.advance(base::Duration(1'000));
    remotes.put(trial, status, {{"TuningJobArn", "arn/" + name}});
    remotes.tunings[name]["LastModifiedTime"] = clock.now().seconds();
  }
  std::vector<Json> trials() { return api.list(training.resource(), "ml").items; }

  const Kind& tuning = get_kind("HyperparameterTuningJob");
  const Kind& training = get_kind("TrainingJob");
  JobController jobs{training, resources(training), parts, {.installation = "home"}};
  TuningChildren children{resources(training), remotes};
  JobController studies{tuning, resources(tuning), parts, {.installation = "home"}, &children};
  std::string name;
};

TEST_F(TuningChildrenTest, EachTrialIsAResourceOfTheTuningJob) {
  trial(name + "-001-aaaaaaaa", "InProgress");
  trial(name + "-002-bbbbbbbb", "InProgress");
  run(4);
  ASSERT_THAT(trials(), SizeIs(2));
  const Json first = trials()[0];
  EXPECT_EQ(kube::name_of(first), name + "-001-aaaaaaaa");
  EXPECT_EQ(kube::find_label(first, kTuningLabel), "study");
  EXPECT_EQ(kube::find_label(first, kMirrorLabel), kTrial);
  ASSERT_THAT(kube::owners_of(first), SizeIs(1));
  EXPECT_EQ(kube::owners_of(first)[0].uid,
            kube::uid_of(api.get(tuning.resource(), {"ml", "study"})));
  EXPECT_EQ(*base::find_path(first, "status.trainingJobStatus"), "InProgress");
}

TEST_F(TuningChildrenTest, ATrialsStatusIsFollowedAndAKnownOneCostsNoDescription) {
  trial(name + "-001-aaaaaaaa", "InProgress");
  run(4);
  const int before = remotes.calls["DescribeTrainingJob"];
  trial(name + "-001-aaaaaaaa", "Completed");
  run(4);
  EXPECT_EQ(*base::find_path(trials()[0], "status.trainingJobStatus"), "Completed");
  EXPECT_EQ(remotes.calls["DescribeTrainingJob"], before + 1);
}

TEST_F(TuningChildrenTest, DeletingTheTuningJobDeletesItsTrialsAndStopsNoneByItself) {
  trial(name + "-001-aaaaaaaa", "InProgress");
  run(4);
  api.remove(tuning.resource(), {"ml", "study"});
  run(6);
  EXPECT_FALSE(api.find(tuning.resource(), {"ml", "study"}));
  EXPECT_THAT(trials(), IsEmpty());
  EXPECT_EQ(remotes.calls["StopHyperParameterTuningJob"], 1);
  EXPECT_EQ(remotes.calls["StopTrainingJob"], 0)
      << "the region stops the trials of a stopped study";
}

TEST_F(TuningChildrenTest, ATrialWhoseRecordIsGoneGoesToo) {
  trial(name + "-001-aaaaaaaa", "InProgress");
  run(4);
  remotes.remove(name + "-001-aaaaaaaa");
  clock.advance(base::Duration(3'700'000));  // the hourly look
  run(4);
  EXPECT_THAT(trials(), IsEmpty());
}

}  // namespace
}  // namespace meridian::operators
