// SPDX-License-Identifier: Apache-2.0
#include "region/batch/fixture.h"
#include "region/batch/jobs/states.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::HasSubstr;

class Arrays : public BatchTest {
 protected:
  Arrays() { define("d"); }
  std::int64_t count(const std::string& id, const char* state) {
    const Json job = describe(id);
    return base::int_or(job.at("arrayProperties").at("statusSummary"), state, -1);
  }
};

TEST_F(Arrays, ChildrenRunWithTheirIndexAndTheParentSumsThemUp) {
  const std::string id = submit_array(5);
  EXPECT_EQ(status(id), "PENDING") << "a parent never runs";
  EXPECT_EQ(count(id, "RUNNING"), 5);
  const auto& environment = engine_.spec(instance(id, 3)).environment;
  EXPECT_EQ(environment.at("AWS_BATCH_JOB_ARRAY_INDEX"), "3");
  EXPECT_EQ(environment.at("AWS_BATCH_JOB_ARRAY_SIZE"), "5");
  EXPECT_EQ(environment.at("AWS_BATCH_JOB_ID"), id + ":3");
  end(instance(id, 3), run::exited(1));
  EXPECT_EQ(status(id), "PENDING") << "others still run";
  EXPECT_EQ(count(id, "FAILED"), 1);
  for (int index : {0, 1, 2, 4}) end(instance(id, index), run::exited(0));
  EXPECT_EQ(status(id), "FAILED");
  EXPECT_EQ(count(id, "SUCCEEDED"), 4);
  EXPECT_EQ(status(id + ":3"), "FAILED");
  EXPECT_EQ(base::int_or(describe(id + ":3").at("arrayProperties"), "index", -1), 3);
}

TEST_F(Arrays, OnlyTheChildThatFailedIsMadeAgain) {
  const std::string id = submit_array(4, {{"retryStrategy", {{"attempts", 3}}}});
  end(instance(id, 2), run::exited(1));
  EXPECT_EQ(engine_.spec(instance(id, 2, 2)).environment.at("AWS_BATCH_JOB_ATTEMPT"), "2");
  for (const std::string& known : engine_.ids())
    EXPECT_THAT(known, testing::Not(HasSubstr("/0/2/")));
}

TEST_F(Arrays, TenThousandWaitingChildrenAreThreeDocuments) {
  const std::size_t before = store_->list({.prefix = "", .limit = 10'000}).documents.size();
  const std::string id = submit_array(10'000);
  const auto documents = store_->list({.prefix = "000000000000/us-west-2/batch/", .limit = 10'000});
  std::size_t bytes = 0, children = 0;
  for (const auto& document : documents.documents) {
    children += document.key.find("/child/") != std::string::npos ? 1 : 0;
    if (document.key.find(id) != std::string::npos) bytes += document.body.size();
  }
  EXPECT_EQ(children, 8u) << "those that run";
  EXPECT_LT(bytes, 6'000u);
  EXPECT_LT(before, 40u);
  EXPECT_EQ(count(id, "RUNNABLE"), 9'992);
}

TEST_F(Arrays, ListJobsPagesThroughTheChildrenOfAState) {
  const std::string id = submit_array(12);
  const auto list = [&](JsonObject more) {
    more["arrayJobId"] = id;
    return call("ListJobs", more);
  };
  EXPECT_EQ(list({}).at("jobSummaryList").as_array().size(), 8u) << "RUNNING unless said otherwise";
  const Json page = list({{"jobStatus", "RUNNABLE"}, {"maxResults", 3}});
  ASSERT_EQ(page.at("jobSummaryList").as_array().size(), 3u);
  EXPECT_EQ(base::string_or(page.at("jobSummaryList").as_array()[0], "jobId"), id + ":8");
  const Json last = list({{"jobStatus", "RUNNABLE"}, {"nextToken", page.at("nextToken")}});
  EXPECT_EQ(last.at("jobSummaryList").as_array().size(), 1u);
  EXPECT_FALSE(last.as_object().contains("nextToken"));
}

TEST_F(Arrays, CancellingTheParentEndsThoseThatWait) {
  const std::string id = submit_array(100);
  call("CancelJob", {{"jobId", id}, {"reason", "enough"}});
  settle();
  EXPECT_EQ(count(id, "FAILED"), 92);
  EXPECT_EQ(count(id, "RUNNING"), 8);
  EXPECT_EQ(reason(id + ":99"), "enough");
  call("TerminateJob", {{"jobId", id}, {"reason", "now"}});
  settle();
  EXPECT_EQ(status(id), "FAILED");
  EXPECT_EQ(reason(id + ":0"), "now");
}

TEST_F(Arrays, AChildIsEndedAloneAndItsArrayGoesOn) {
  const std::string id = submit_array(10);
  call("CancelJob", {{"jobId", id + ":9"}, {"reason", "not this one"}});
  call("TerminateJob", {{"jobId", id + ":0"}, {"reason", "nor this"}});
  settle();
  EXPECT_EQ(reason(id + ":9"), "not this one");
  EXPECT_TRUE(base::bool_or(describe(id + ":9"), "isCancelled", false));
  EXPECT_EQ(reason(id + ":0"), "nor this");
  for (int index = 1; index < 9; ++index) end(instance(id, index), run::exited(0));
  EXPECT_EQ(status(id), "FAILED");
  EXPECT_EQ(count(id, "SUCCEEDED"), 8);
}

TEST_F(Arrays, ManyJobsAreEndedByOneCall) {
  const std::string id = submit_array(3);
  const Json answer =
      call("TerminateJobs", {{"jobs", JsonArray{Json(id), Json("none")}}, {"reason", "all"}});
  settle();
  EXPECT_EQ(answer.at("successful").as_array().size(), 1u);
  EXPECT_EQ(base::string_or(answer.at("errors").as_array().at(0), "code"), "ClientException");
  EXPECT_EQ(status(id), "FAILED");
}

TEST_F(Arrays, DependenciesHoldOverARestart) {
  const std::string a = submit_array(3);
  const std::string b =
      submit_array(3, {{"dependsOn", JsonArray{JsonObject{{"jobId", a}, {"type", "N_TO_N"}}}}});
  const std::string c = submit({{"dependsOn", JsonArray{JsonObject{{"jobId", b}}}}});
  const std::string d =
      submit_array(2, {{"dependsOn", JsonArray{JsonObject{{"type", "SEQUENTIAL"}}}}});
  restart();
  EXPECT_EQ(status(b + ":1"), "PENDING");
  EXPECT_EQ(status(c), "PENDING");
  EXPECT_EQ(status(d + ":1"), "PENDING");
  end(instance(a, 1), run::exited(0));
  EXPECT_EQ(status(b + ":1"), "RUNNING");
  EXPECT_EQ(status(b + ":0"), "PENDING");
  end(instance(d, 0), run::exited(0));
  EXPECT_EQ(status(d + ":1"), "RUNNING");
  for (int index : {0, 2}) end(instance(a, index), run::exited(0));
  restart();
  for (int index : {0, 1, 2}) end(instance(b, index), run::exited(0));
  EXPECT_EQ(status(c), "RUNNING");
}

TEST_F(Arrays, AJobMayDependOnWhatHasEnded) {
  const std::string good = submit();
  end(instance(good), run::exited(0));
  const std::string bad = submit();
  end(instance(bad), run::exited(1));
  EXPECT_EQ(status(submit({{"dependsOn", JsonArray{JsonObject{{"jobId", good}}}}})), "RUNNING");
  const std::string after_bad = submit({{"dependsOn", JsonArray{JsonObject{{"jobId", bad}}}}});
  EXPECT_EQ(status(after_bad), "FAILED");
  EXPECT_THAT(reason(after_bad), HasSubstr("Dependent Job failed"));
  EXPECT_THAT(refusal("SubmitJob", {{"jobName", "x"},
                                    {"jobQueue", "default"},
                                    {"jobDefinition", "d"},
                                    {"dependsOn", JsonArray{JsonObject{{"jobId", "none"}}}}}),
              HasSubstr("ClientException: dependsOn: there is no job 'none'"));
}

// Random ends, cancellations and restarts: what is stored always adds up.
TEST_F(Arrays, WhatIsStoredAddsUpUnderRandomHistories) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    base::SeededRandom random(seed);
    const std::string id = submit_array(12, {{"retryStrategy", {{"attempts", 2}}}});
    for (int move = 0; move < 400 && !is_terminal(*parse_status(status(id))); ++move) {
      const auto index = static_cast<int>(random.below(12));
      const Json child = describe(id + ":" + std::to_string(index));
      const auto attempt = static_cast<int>(child.at("attempts").as_array().size()) + 1;
      if (base::string_or(child, "status") == "RUNNING")
        end(instance(id, index, attempt), random.below(3) == 0 ? run::exited(1) : run::exited(0));
      if (random.below(40) == 0)
        call("CancelJob", {{"jobId", id + ":" + std::to_string(index)}, {"reason", "x"}});
      if (random.below(40) == 0)
        call("TerminateJob", {{"jobId", id + ":" + std::to_string(index)}, {"reason", "x"}});
      if (random.below(50) == 0) restart();
      settle();
      if (move % 5 != 0) continue;
      std::map<std::string, std::int64_t> seen;
      for (int each = 0; each < 12; ++each) ++seen[status(id + ":" + std::to_string(each))];
      const Json job = describe(id);
      for (const auto& [state, number] : job.at("arrayProperties").at("statusSummary").as_object())
        ASSERT_EQ(number.to_number<std::int64_t>(), seen[std::string(state)]) << state;
    }
    EXPECT_TRUE(is_terminal(*parse_status(status(id))));
    EXPECT_EQ(base::string_or(describe(id), "status") == "FAILED", count(id, "FAILED") > 0);
  }
}

}  // namespace
}  // namespace meridian::region::batch
