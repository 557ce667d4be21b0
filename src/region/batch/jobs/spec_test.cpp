// SPDX-License-Identifier: Apache-2.0
#include "region/batch/jobs/spec.h"

#include <gtest/gtest.h>

#include "region/batch/jobs/retry.h"

namespace meridian::region::batch {
namespace {

using base::JsonArray;
using base::JsonObject;

JsonObject definition() {
  return {
      {"containerProperties",
       {{"image", "host"},
        {"command", JsonArray{"run", "Ref::input", "--n=Ref::n", "Ref::unknown"}},
        {"environment", JsonArray{JsonObject{{"name", "A"}, {"value", "1"}},
                                  JsonObject{{"name", "B"}, {"value", "2"}}}},
        {"resourceRequirements", JsonArray{JsonObject{{"type", "VCPU"}, {"value", "2"}},
                                           JsonObject{{"type", "MEMORY"}, {"value", "2048"}}}}}},
      {"parameters", {{"input", "a.txt"}, {"n", "1"}}},
      {"retryStrategy", {{"attempts", 3}}},
      {"timeout", {{"attemptDurationSeconds", 100}}}};
}

TEST(Spec, ParametersOfTheSubmissionWinAndUnknownOnesStay) {
  const JobSpec spec = read_spec(make_detail(definition(), {{"parameters", {{"n", "7"}}}}));
  EXPECT_EQ(spec.containers.at(0).command,
            (std::vector<std::string>{"run", "a.txt", "--n=7", "Ref::unknown"}));
}

TEST(Spec, ParametersAreReplacedWithinAWord) {
  const std::map<std::string, std::string> parameters{{"a", "1"}, {"ab", "2"}};
  EXPECT_EQ(substitute("s3://Ref::a/Ref::ab.csv-Ref::c", parameters), "s3://1/2.csv-Ref::c");
  EXPECT_EQ(substitute("Ref::", parameters), "Ref::");
}

TEST(Spec, OverridesMergeByNameAndByType) {
  const JobSpec spec = read_spec(make_detail(
      definition(),
      {{"containerOverrides",
        {{"command", JsonArray{"other", "Ref::n"}},
         {"environment", JsonArray{JsonObject{{"name", "B"}, {"value", ""}},
                                   JsonObject{{"name", "C"}, {"value", "3"}}}},
         {"resourceRequirements", JsonArray{JsonObject{{"type", "MEMORY"}, {"value", "64"}}}},
         {"vcpus", 9}}}}));
  const Container& container = spec.containers.at(0);
  EXPECT_EQ(container.command, (std::vector<std::string>{"other", "1"}));
  EXPECT_EQ(container.environment,
            (std::map<std::string, std::string>{{"A", "1"}, {"B", ""}, {"C", "3"}}));
  EXPECT_EQ(container.memory_bytes, 64u << 20);
  EXPECT_EQ(container.vcpus, 2) << "legacy members change no requirement";
}

TEST(Spec, RetryAndTimeoutOfTheSubmissionReplaceTheDefinitions) {
  const JobSpec kept = read_spec(make_detail(definition(), {}));
  EXPECT_EQ(kept.attempts, 3);
  EXPECT_EQ(kept.timeout_seconds, 100);
  const JobSpec own =
      read_spec(make_detail(definition(), {{"retryStrategy", {{"attempts", 1}}},
                                           {"timeout", {{"attemptDurationSeconds", 60}}}}));
  EXPECT_EQ(own.attempts, 1);
  EXPECT_EQ(own.timeout_seconds, 60);
}

TEST(Spec, NodeRangesNameNodes) {
  const auto text = [](const char* range) {
    const auto parsed = parse_node_range(range, 4);
    return parsed ? std::to_string(parsed->from) + "-" + std::to_string(parsed->to) : "none";
  };
  EXPECT_EQ(text("0"), "0-0");
  EXPECT_EQ(text("1:2"), "1-2");
  EXPECT_EQ(text(":2"), "0-2");
  EXPECT_EQ(text("2:"), "2-3");
  EXPECT_EQ(text("1:9"), "1-3");
  for (const char* wrong : {"4", "3:1", "a", "", "-1:"}) EXPECT_EQ(text(wrong), "none") << wrong;
}

TEST(Retry, TheFirstRuleWhoseConditionsAllHoldDecides) {
  JobSpec spec{.attempts = 10};
  spec.exit_rules = {{.reason = "OutOfMemory*", .exit_code = "137", .retry = false},
                     {.exit_code = "1*", .retry = true},
                     {.status_reason = "Host EC2*", .retry = true},
                     {.reason = "*", .retry = false}};
  EXPECT_FALSE(is_retried(spec, {.exit_code = 137, .reason = "OutOfMemoryError: killed"}, 1));
  EXPECT_TRUE(is_retried(spec, {.exit_code = 137, .reason = "other"}, 1));
  EXPECT_TRUE(is_retried(spec, {.status_reason = "host ec2 (instance i-1) terminated."}, 1));
  EXPECT_FALSE(is_retried(spec, {.exit_code = 2}, 1));
  EXPECT_FALSE(is_retried(spec, {.exit_code = 137, .reason = "other"}, 10)) << "no attempt is left";
}

TEST(Retry, WithoutAMatchTheAttemptIsMadeAgain) {
  JobSpec spec{.attempts = 2};
  EXPECT_TRUE(is_retried(spec, {.exit_code = 1}, 1));
  spec.exit_rules = {{.exit_code = "7", .retry = false}};
  EXPECT_TRUE(is_retried(spec, {.exit_code = 1}, 1));
  EXPECT_TRUE(is_retried(spec, {}, 1)) << "no program ran: there is no exit code to match";
}

}  // namespace
}  // namespace meridian::region::batch
