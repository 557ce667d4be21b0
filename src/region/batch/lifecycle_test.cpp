// SPDX-License-Identifier: Apache-2.0
#include "region/batch/fixture.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::HasSubstr;

class Lifecycle : public BatchTest {
 protected:
  Lifecycle() { define("d", {{"parameters", {{"input", "a"}}}}); }
};

TEST_F(Lifecycle, AJobRunsToItsEndInTheDefaultQueue) {
  const std::string id = submit({{"parameters", {{"input", "b"}}}});
  EXPECT_EQ(status(id), "RUNNING");
  const run::InstanceSpec spec = engine_.spec(instance(id));
  EXPECT_EQ(spec.argv, (std::vector<std::string>{"/bin/work", "b"}));
  EXPECT_EQ(spec.environment.at("AWS_BATCH_JOB_ID"), id);
  EXPECT_EQ(spec.environment.at("AWS_BATCH_JQ_NAME"), "default");
  EXPECT_EQ(spec.environment.at("AWS_BATCH_CE_NAME"), "default");
  EXPECT_EQ(spec.environment.at("AWS_BATCH_JOB_ATTEMPT"), "1");
  EXPECT_FALSE(spec.environment.contains("AWS_BATCH_JOB_ARRAY_INDEX"));
  EXPECT_FALSE(spec.environment.at("AWS_SESSION_TOKEN").empty());
  EXPECT_EQ(spec.environment.at("AWS_ENDPOINT_URL"), "http://127.0.0.1:8470");
  EXPECT_EQ(spec.limits.memory_bytes, 128u << 20);
  end(instance(id), run::exited(0));
  const Json job = describe(id);
  EXPECT_EQ(base::string_or(job, "status"), "SUCCEEDED");
  EXPECT_EQ(base::string_or(job, "statusReason"), "Essential container in task exited");
  EXPECT_EQ(base::int_or(job.at("container"), "exitCode", -1), 0);
  EXPECT_EQ(job.at("attempts").as_array().size(), 1u);
  EXPECT_TRUE(engine_.forgotten(instance(id)));
  EXPECT_FALSE(capacity_.find("batch/" + id)) << "the lease ends with the job";
  const auto key = identity_.find_key(spec.environment.at("AWS_ACCESS_KEY_ID"));
  EXPECT_FALSE(key) << "so do its keys";
}

TEST_F(Lifecycle, AFailureIsMadeAgainAsOftenAsAsked) {
  const std::string id = submit({{"retryStrategy", {{"attempts", 2}}}});
  end(instance(id), run::exited(3));
  EXPECT_EQ(status(id), "RUNNING");
  EXPECT_EQ(engine_.spec(instance(id, 0, 2)).environment.at("AWS_BATCH_JOB_ATTEMPT"), "2");
  end(instance(id, 0, 2), run::exited(4));
  const Json job = describe(id);
  EXPECT_EQ(base::string_or(job, "status"), "FAILED");
  EXPECT_EQ(base::int_or(job.at("container"), "exitCode", -1), 4);
  ASSERT_EQ(job.at("attempts").as_array().size(), 2u);
  EXPECT_EQ(base::int_or(job.at("attempts").as_array()[0].at("container"), "exitCode", -1), 3);
  EXPECT_NE(base::string_or(job.at("attempts").as_array()[0].at("container"), "logStreamName"),
            base::string_or(job.at("attempts").as_array()[1].at("container"), "logStreamName"));
}

TEST_F(Lifecycle, RulesOfExitDecideWhetherItIsMadeAgain) {
  const std::string id = submit(
      {{"retryStrategy",
        {{"attempts", 5},
         {"evaluateOnExit", JsonArray{JsonObject{{"onExitCode", "3"}, {"action", "EXIT"}}}}}}});
  end(instance(id), run::exited(9));
  EXPECT_EQ(status(id), "RUNNING");
  end(instance(id, 0, 2), run::exited(3));
  EXPECT_EQ(status(id), "FAILED");
}

TEST_F(Lifecycle, ATimeoutEndsTheAttemptAndIsNotMadeAgain) {
  const std::string id =
      submit({{"timeout", {{"attemptDurationSeconds", 60}}}, {"retryStrategy", {{"attempts", 5}}}});
  pass(base::Duration(59'000));
  EXPECT_EQ(status(id), "RUNNING");
  pass(base::Duration(2'000));
  EXPECT_EQ(status(id), "FAILED");
  EXPECT_EQ(reason(id), "Job attempt duration exceeded timeout");
  EXPECT_EQ(describe(id).at("attempts").as_array().size(), 1u);
  EXPECT_EQ(base::int_or(describe(id).at("container"), "exitCode", -1), 143) << "SIGTERM";
}

TEST_F(Lifecycle, CancelLeavesWhatRunsAndTerminateEndsIt) {
  const std::string id = submit();
  call("CancelJob", {{"jobId", id}, {"reason", "changed my mind"}});
  settle();
  EXPECT_EQ(status(id), "RUNNING");
  call("TerminateJob", {{"jobId", id}, {"reason", "really"}});
  settle();
  EXPECT_EQ(status(id), "FAILED");
  EXPECT_EQ(reason(id), "really");
  EXPECT_TRUE(base::bool_or(describe(id), "isTerminated", false));
}

TEST_F(Lifecycle, AnImageThatIsNotThereFailsBeforeAnythingRuns) {
  define("other", {{"containerProperties",
                    {{"image", "registry.example/none:1"},
                     {"vcpus", 1},
                     {"memory", 64},
                     {"command", JsonArray{"x"}}}}});
  const std::string id = submit({{"jobDefinition", "other"}});
  const Json job = describe(id);
  EXPECT_EQ(base::string_or(job, "status"), "FAILED");
  EXPECT_EQ(base::string_or(job, "statusReason"), "Task failed to start");
  EXPECT_THAT(base::string_or(job.at("container"), "reason"),
              HasSubstr("CannotPullContainerError"));
  EXPECT_FALSE(job.at("container").as_object().contains("exitCode"));
}

TEST_F(Lifecycle, AnImageThatIsHereRunsInAContainer) {
  define("own", {{"containerProperties", {{"image", "own:latest"}, {"vcpus", 1}, {"memory", 64}}}});
  const std::string id = submit({{"jobDefinition", "own"}});
  EXPECT_EQ(engine_.spec(instance(id)).image, "own:latest");
  EXPECT_TRUE(engine_.spec(instance(id)).argv.empty()) << "the image's own command";
}

TEST_F(Lifecycle, NodesRunTogetherAndTheMainNodesEndIsTheJobs) {
  call("RegisterJobDefinition",
       {{"jobDefinitionName", "nodes"},
        {"type", "multinode"},
        {"nodeProperties",
         {{"numNodes", 3},
          {"mainNode", 1},
          {"nodeRangeProperties",
           JsonArray{JsonObject{{"targetNodes", "0:2"}, {"container", container(2)}}}}}}});
  const std::string id = submit({{"jobDefinition", "nodes"}});
  const auto& environment = engine_.spec(instance(id, 0, 1, 2)).environment;
  EXPECT_EQ(environment.at("AWS_BATCH_JOB_NODE_INDEX"), "2");
  EXPECT_EQ(environment.at("AWS_BATCH_JOB_MAIN_NODE_INDEX"), "1");
  EXPECT_EQ(environment.at("AWS_BATCH_JOB_NUM_NODES"), "3");
  EXPECT_EQ(environment.at("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"), "127.0.1.2");
  EXPECT_EQ(engine_.spec(instance(id, 0, 1, 2)).hosts.size(), 3u);
  EXPECT_EQ(submit({{"jobDefinition", "nodes"}}).empty(), false) << "6 of 8 vCPUs are taken";
  end(instance(id, 0, 1, 0), run::exited(1));
  EXPECT_EQ(status(id), "RUNNING") << "a node that is not the main one ends alone";
  EXPECT_TRUE(base::bool_or(describe(id + "#1").at("nodeDetails"), "isMainNode", false));
  EXPECT_EQ(call("ListJobs", {{"multiNodeJobId", id}}).at("jobSummaryList").as_array().size(), 3u);
  end(instance(id, 0, 1, 1), run::exited(0));
  EXPECT_EQ(status(id), "SUCCEEDED");
}

TEST_F(Lifecycle, ARestartGoesOnWithWhatRuns) {
  const std::string id = submit();
  const std::string array = submit_array(20);
  restart();
  EXPECT_EQ(status(id), "RUNNING");
  end(instance(id), run::exited(0));
  EXPECT_EQ(status(id), "SUCCEEDED");
  for (int index = 0; index < 20; ++index) {
    if (index == 10) restart();
    end(instance(array, index), run::exited(0));
  }
  EXPECT_EQ(status(array), "SUCCEEDED");
}

TEST_F(Lifecycle, ALostSupervisorIsALostHost) {
  const std::string id =
      submit({{"retryStrategy",
               {{"attempts", 2},
                {"evaluateOnExit",
                 JsonArray{JsonObject{{"onStatusReason", "Host EC2*"}, {"action", "RETRY"}},
                           JsonObject{{"onReason", "*"}, {"action", "EXIT"}}}}}}});
  end(instance(id), run::lost());
  EXPECT_EQ(status(id), "RUNNING");
  end(instance(id, 0, 2), run::exited(1));
  EXPECT_EQ(status(id), "FAILED");
}

TEST_F(Lifecycle, RunnableSaysWhatIsMissingAndWhoHoldsIt) {
  define("big", {}, 6);
  const std::string first = submit({{"jobDefinition", "big"}});
  const std::string second = submit({{"jobDefinition", "big"}});
  const std::string third = submit();
  EXPECT_EQ(status(second), "RUNNABLE");
  EXPECT_THAT(reason(second), HasSubstr("requested 6 vCPUs; compute environment 'default' has 6 of "
                                        "8 vCPUs in use"));
  EXPECT_EQ(status(third), "RUNNABLE") << "nothing overtakes in a queue";
  EXPECT_THAT(reason(third), HasSubstr("number 2 of queue 'default'; the first, " + second));
  const Json snapshot = call("GetJobQueueSnapshot", {{"jobQueue", "default"}});
  EXPECT_EQ(snapshot.at("frontOfQueue").at("jobs").as_array().size(), 2u);
  end(instance(first), run::exited(0));
  EXPECT_EQ(status(second), "RUNNING");
  EXPECT_EQ(status(third), "RUNNING");
}

TEST_F(Lifecycle, WhoHoldsSharedVcpusIsNamed) {
  call("UpdateComputeEnvironment",
       {{"computeEnvironment", "default"}, {"computeResources", {{"maxvCpus", 100}}}});
  define("big", {}, 6);
  const std::string first = submit({{"jobDefinition", "big"}});
  const std::string second = submit({{"jobDefinition", "big"}});
  EXPECT_THAT(reason(second), HasSubstr("requested 6, free 2 of 8; held by batch/" + first));
  call("CancelJob", {{"jobId", second}, {"reason", "no"}});
  settle();
  EXPECT_EQ(status(second), "FAILED");
  EXPECT_TRUE(capacity_.waiting_owners().empty()) << "its place in the queue is given up";
}

TEST_F(Lifecycle, WhatCanNeverFitSaysSo) {
  define("huge", {}, 99);
  const std::string id = submit({{"jobDefinition", "huge"}});
  EXPECT_EQ(status(id), "RUNNABLE");
  EXPECT_THAT(reason(id), HasSubstr("MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT"));
}

TEST_F(Lifecycle, TheQueuesTimeLimitCancelsItsHead) {
  call("UpdateJobQueue",
       {{"jobQueue", "default"},
        {"jobStateTimeLimitActions",
         JsonArray{JsonObject{{"reason", "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT"},
                              {"state", "RUNNABLE"},
                              {"maxTimeSeconds", 600},
                              {"action", "CANCEL"}}}}});
  define("huge", {}, 99);
  const std::string id = submit({{"jobDefinition", "huge"}});
  const std::string behind = submit();
  pass(base::Duration(599'000));
  EXPECT_EQ(status(id), "RUNNABLE");
  pass(base::Duration(5'000));
  EXPECT_EQ(status(id), "FAILED");
  EXPECT_EQ(status(behind), "RUNNING");
}

}  // namespace
}  // namespace meridian::region::batch
