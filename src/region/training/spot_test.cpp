// Interruptions of managed spot instances.
//
// SPDX-License-Identifier: Apache-2.0
#include "region/training/fixture.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonObject;
using run::exited;

std::vector<std::string> secondaries(const Json& job) {
  std::vector<std::string> seen;
  for (const Json& each : job.at("SecondaryStatusTransitions").as_array())
    seen.push_back(base::string_or(each, "Status"));
  return seen;
}

TEST_F(RegionTest, ASpotReclaimRestartsFromTheCheckpoints) {
  JsonObject job = request("j");
  job["EnableManagedSpotTraining"] = true;
  job["StoppingCondition"] = {{"MaxRuntimeInSeconds", 3600}, {"MaxWaitTimeInSeconds", 7200}};
  job["CheckpointConfig"] = {{"S3Uri", "s3://out/ckpt/j"}};
  start(job);
  base::write_file(ml("j", "1/algo-1") / "checkpoints/step-1", "one");
  clock_.advance(base::Duration(60'000));
  region_->meridian_calls().at("spot-reclaim")({}, {{"job", "j"}});
  settle();
  EXPECT_EQ(status("j"), "InProgress/Training");
  EXPECT_EQ(objects_.text("out", "ckpt/j/step-1"), "one");
  EXPECT_EQ(base::read_file(ml("j", "2/algo-1") / "checkpoints/step-1"), "one");
  EXPECT_THAT(secondaries(describe("j")), testing::Contains("Interrupted"));
  end("j", "2/algo-1", exited(0));
  EXPECT_EQ(status("j"), "Completed/Completed");
}

class SpotPolicies : public RegionTest {
 protected:
  SpotPolicies() { restart(); }
  void adjust(Settings& settings) override { settings.spot["default"] = policy_; }
  JsonObject spot_job(const std::string& name, int instances = 1) {
    JsonObject job = request(name, instances);
    job["EnableManagedSpotTraining"] = true;
    job["StoppingCondition"] = {{"MaxRuntimeInSeconds", 3600}, {"MaxWaitTimeInSeconds", 7200}};
    return job;
  }
  std::int64_t reclaims(const std::string& job) {
    const Json described = describe(job);
    return base::int_or(described.at("Meridian"), "Reclaims", -1);
  }
  SpotPolicy policy_;
};

TEST_F(SpotPolicies, AttemptsRunAsLongAsTheyMay) {
  policy_.reclaim_after = {base::Duration(60'000), base::Duration(120'000)};
  restart();
  start(spot_job("j"));
  start(request("on-demand"));
  runner_->run_for(base::Duration(59'000));
  EXPECT_EQ(reclaims("j"), 0);
  runner_->run_for(base::Duration(2'000));
  EXPECT_EQ(reclaims("j"), 1);
  EXPECT_EQ(status("j"), "InProgress/Training");
  runner_->run_for(base::Duration(1'000'000));
  EXPECT_EQ(reclaims("j"), 2);
  EXPECT_EQ(reclaims("on-demand"), 0);
}

TEST_F(SpotPolicies, AReclaimedGangHasItsGrace) {
  policy_.reclaim_after = {base::Duration(60'000)};
  restart();
  engine_.ignore_stops();
  start(spot_job("j"));
  runner_->run_for(base::Duration(61'000));
  EXPECT_EQ(status("j"), "InProgress/Interrupted");
  EXPECT_TRUE(engine_.stop_requested(instance("j", "1/algo-1")));
  runner_->run_for(base::Duration(140'000));
  EXPECT_EQ(status("j"), "InProgress/Training");
}

TEST_F(SpotPolicies, ATraceInterruptsAndKeepsWaiting) {
  policy_.trace = {base::Duration(60'000), {2, 1, 1, 2}};
  restart();
  start(spot_job("pair", 2));
  start(spot_job("single", 1));
  EXPECT_EQ(status("pair"), "InProgress/Training");
  runner_->run_for(base::Duration(61'000));
  EXPECT_EQ(status("pair"), "InProgress/Pending");
  EXPECT_FALSE(capacity_.find("training/pair"));
  EXPECT_EQ(status("single"), "InProgress/Training");
  runner_->run_for(base::Duration(60'000));
  EXPECT_EQ(status("pair"), "InProgress/Pending");
  runner_->run_for(base::Duration(60'000));
  EXPECT_EQ(status("pair"), "InProgress/Training");
}

}  // namespace
}  // namespace meridian::region::training
