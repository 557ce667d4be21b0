// SPDX-License-Identifier: Apache-2.0
#include "operators/region_mirrors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/mirror_object.h"
#include "operators/test_bed.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class RegionMirrorsTest : public testing::Test, public TestBed {
 protected:
  RegionMirrorsTest() {
    steps.add(kind.plural, [this](const control::Key& key) { return jobs.step(key); });
    steps.add(std::string(RegionMirrors::kStep),
              [this](const control::Key& key) { return mirrors.step(key); });
  }
  void run(int seconds) { settle({&kind}, seconds); }
  std::vector<std::string> names(const std::string& ns = "region-us-west-2") {
    std::vector<std::string> found;
    for (const Json& object : api.list(kind.resource(), ns).items) {
      found.push_back(kube::name_of(object));
    }
    return found;
  }
  std::string status(const std::string& name) {
    const auto object = api.find(kind.resource(), {"region-us-west-2", name});
    const Json* word = object ? base::find_path(*object, "status.trainingJobStatus") : nullptr;
    return word == nullptr ? "" : std::string(base::view(word->as_string()));
  }

  const Kind& kind = get_kind("TrainingJob");
  JobController jobs{kind, resources(kind), parts, {.installation = "home"}};
  RegionMirrors mirrors{resources(kind), remotes, feed, runner, clock, {.most = 5, .batch = 3}};
};

TEST_F(RegionMirrorsTest, AJobOfAnotherClientIsShownAndFollowedToItsEnd) {
  mirrors.start({"us-west-2"});
  remotes.put("digits", "InProgress", {{"RoleArn", "r"}, {"HyperParameters", {{"lr", "1"}}}});
  run(4);
  ASSERT_THAT(names(), ElementsAre("digits"));
  EXPECT_EQ(status("digits"), "InProgress");
  const Json object = api.get(kind.resource(), {"region-us-west-2", "digits"});
  EXPECT_EQ(kube::find_label(object, kMirrorLabel), kOfRegion);
  EXPECT_THAT(kube::finalizers_of(object), IsEmpty());
  EXPECT_EQ(*base::find_path(object, "spec.hyperParameters"),
            Json(JsonArray{{{"name", "lr"}, {"value", "1"}}}));
  EXPECT_TRUE(api.find({"", "v1", "namespaces"}, {"", "region-us-west-2"}));
  remotes.put("digits", "Completed");
  run(4);
  EXPECT_EQ(status("digits"), "Completed");
}

TEST_F(RegionMirrorsTest, AJobWithAnOwnerTagIsNotShownWhoeverTaggedIt) {
  mirrors.start({"us-west-2"});
  remotes.put(
      "theirs", "InProgress",
      {{"Tags", JsonArray{{{"Key", kOwnerTag}, {"Value", "elsewhere/a/TrainingJob/b/c"}}}}});
  remotes.put("plain", "InProgress", {{"Tags", JsonArray{{{"Key", "team"}, {"Value", "x"}}}}});
  run(4);
  EXPECT_THAT(names(), ElementsAre("plain"));
  const int asked = remotes.calls["ListTags"];
  remotes.put("theirs", "Completed");
  run(4);
  EXPECT_EQ(remotes.calls["ListTags"], asked) << "what is known is not asked again";
}

TEST_F(RegionMirrorsTest, AnAppliedJobIsNotShownTwiceAndCostsNoQuestion) {
  mirrors.start({"us-west-2"});
  api.create(kind.resource(), {{"apiVersion", "sagemaker.aws.amazon.com/v1"},
                               {"kind", "TrainingJob"},
                               {"metadata", {{"name", "a"}, {"namespace", "default"}}},
                               {"spec", {{"region", "us-west-2"}}}});
  run(6);
  EXPECT_EQ(remotes.size(), 1u);
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(remotes.calls["ListTags"], 0);
}

TEST_F(RegionMirrorsTest, ANameThatIsNotInLowerCaseGetsEightDigits) {
  EXPECT_EQ(mirror_name("digits-1"), "digits-1");
  EXPECT_THAT(mirror_name("Digits-1"), testing::MatchesRegex("digits-1-[0-9a-f]{8}"));
  EXPECT_NE(mirror_name("Digits-1"), mirror_name("DIGITS-1"));
  mirrors.start({"us-west-2"});
  remotes.put("Digits", "InProgress");
  run(4);
  EXPECT_EQ(status(mirror_name("Digits")), "InProgress");
}

TEST_F(RegionMirrorsTest, DeletingAMirrorLeavesTheJobAndItsNextChangeBringsItBack) {
  mirrors.start({"us-west-2"});
  remotes.put("digits", "InProgress");
  run(4);
  api.remove(kind.resource(), {"region-us-west-2", "digits"});
  runner.add("trainingjobs/region-us-west-2/digits");  // as its watch would
  run(5);
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(base::string_or(remotes.job("digits"), "TrainingJobStatus"), "InProgress");
  EXPECT_EQ(remotes.calls["StopTrainingJob"], 0);
  remotes.put("digits", "Completed");
  run(5);
  EXPECT_EQ(status("digits"), "Completed");
}

TEST_F(RegionMirrorsTest, TheNewestAreShownAndTheOldGo) {
  mirrors.start({"us-west-2"});
  for (int i = 0; i < 8; ++i) {
    clock.advance(base::Duration(2'000));
    remotes.put("j" + std::to_string(i), "Completed");
    run(3);
  }
  run(61);
  EXPECT_THAT(names(), ElementsAre("j3", "j4", "j5", "j6", "j7"));
  clock.advance(base::Duration(8LL * 24 * 3'600'000));
  run(2);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RegionMirrorsTest, ABurstIsTakenInBatches) {
  mirrors.start({"us-west-2"});
  for (int i = 0; i < 5; ++i) remotes.put("j" + std::to_string(i), "InProgress");
  runner.run_for(base::Duration(1'500));
  EXPECT_THAT(names(), SizeIs(3));
  run(3);
  EXPECT_THAT(names(), SizeIs(5));
}

TEST_F(RegionMirrorsTest, AJobThatIsDeletedInTheRegionGoes) {
  mirrors.start({"us-west-2"});
  remotes.put("kept", "Completed");
  remotes.put("gone", "Completed");
  run(4);
  EXPECT_THAT(names(), ElementsAre("gone", "kept"));
  remotes.remove("gone");
  clock.advance(base::Duration(3'600'000));
  run(61);
  EXPECT_THAT(names(), ElementsAre("kept"));
}

TEST_F(RegionMirrorsTest, AfterARestartNothingIsAskedForWhatIsShown) {
  mirrors.start({"us-west-2"});
  remotes.put("digits", "Completed");
  run(4);
  const auto before = remotes.calls;
  control::StepTable new_steps;
  control::VirtualRunner new_runner(clock, new_steps);
  Feed new_feed(remotes, new_runner, clock);
  RegionMirrors restarted(resources(kind), remotes, new_feed, new_runner, clock);
  new_steps.add(std::string(Feed::kStep), [&](const control::Key& k) { return new_feed.step(k); });
  new_steps.add(std::string(RegionMirrors::kStep),
                [&](const control::Key& k) { return restarted.step(k); });
  restarted.start({"us-west-2"});
  new_runner.run_for(base::Duration(5'000));
  EXPECT_EQ(remotes.calls["DescribeTrainingJob"], before.at("DescribeTrainingJob"));
  EXPECT_EQ(remotes.calls["ListTags"], before.at("ListTags"));
  EXPECT_THAT(names(), ElementsAre("digits"));
}

}  // namespace
}  // namespace meridian::operators
