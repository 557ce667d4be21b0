// The commands against a region that answers from a script.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <gmock/gmock.h>

#include <map>
#include <mutex>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "cli/follow.h"
#include "cli/golden.h"
#include "net/server.h"

namespace meridian::cli {
namespace {

using base::Json;
using base::JsonObject;
using testing::ElementsAre;
using testing::HasSubstr;

// Answers JSON calls by operation: the next of its answers, the last one again and again.
class FakeRegion {
 public:
  void answer(const std::string& operation, std::string_view json) {
    const std::lock_guard lock(mutex_);
    answers_[operation].push_back(std::string(json));
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  std::vector<std::string> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  void handle(net::Request& request, net::Responder& responder) {
    const auto body = request.body->read_all(1 << 20);
    auto name = request.headers.get("x-amz-target", request.path);
    name = name.substr(std::max(name.rfind('.') + 1, name.rfind('/') + 1));
    const std::lock_guard lock(mutex_);
    calls_.push_back(name + " " + body);
    auto& answers = answers_[name];
    net::Response response{.status = answers.empty() ? 400 : 200, .headers = {}, .body = ""};
    response.headers.set("Content-Type", "application/x-amz-json-1.1");
    response.body = answers.empty()
                        ? R"({"__type":"ValidationException","message":"resource not found"})"
                        : answers.front();
    if (answers.size() > 1) answers.erase(answers.begin());
    responder.send(std::move(response));
  }

  std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> answers_;
  std::vector<std::string> calls_;
  net::HttpServer server_{{}, [this](net::Request& q, net::Responder& r) { handle(q, r); }};
};

class CommandsTest : public testing::Test {
 protected:
  int run(std::vector<std::string> args) {
    out.str("");
    err.str("");
    Context context{console,
                    hooks,
                    clock,
                    [this](const std::string& name) { return variables[name]; },
                    data.path().string(),
                    ""};
    CommandLine line("meridian", "");
    add_commands(line, context);
    auto outcome = line.parse(std::move(args));
    if (!outcome.action) {
      err << outcome.text;
      return outcome.status;
    }
    return outcome.action();
  }

  FakeRegion region;
  base::TempDir data;
  std::map<std::string, std::string> variables{{"AWS_ENDPOINT_URL", region.url()},
                                               {"AWS_ACCESS_KEY_ID", "AKIATEST"},
                                               {"AWS_SECRET_ACCESS_KEY", "it's secret"},
                                               {"AWS_REGION", "us-west-2"},
                                               {"PATH", "/usr/bin"}};
  std::ostringstream out, err;
  Console console{out, err, {}};
  const Hooks hooks{.up = {}, .version = "1.2.3"};
  const base::ManualClock clock{{1'700'000'100'000}};
};

constexpr char kJob[] = R"({
  "TrainingJobName": "digits", "TrainingJobStatus": "Completed", "SecondaryStatus": "Completed",
  "TrainingJobArn": "arn:aws:sagemaker:us-west-2:000000000000:training-job/digits",
  "AlgorithmSpecification": {"TrainingImage": "host"},
  "CreationTime": 1700000000.0, "TrainingStartTime": 1700000001.0, "TrainingEndTime": 1700000012.5,
  "TrainingTimeInSeconds": 11, "BillableTimeInSeconds": 11, "HyperParameters": {"epochs": "8"},
  "ResourceConfig": {"InstanceCount": 2, "InstanceType": "ml.m5.large"},
  "ModelArtifacts": {"S3ModelArtifacts": "s3://b/output/digits/output/model.tar.gz"},
  "FinalMetricDataList": [{"MetricName": "loss", "Value": 0.5}],
  "SecondaryStatusTransitions": [
    {"Status": "Starting", "StartTime": 1700000000.0, "EndTime": 1700000001.0,
     "StatusMessage": "Preparing"},
    {"Status": "Completed", "StartTime": 1700000012.5, "StatusMessage": "Training job completed"}],
  "Meridian": {"Program": {"explanation": "the given entry point"}, "Warnings": ["a note"]}})";

TEST_F(CommandsTest, GetPagesThroughTheListAndPrintsATable) {
  region.answer("ListTrainingJobs", R"({"NextToken":"t","TrainingJobSummaries":[
      {"TrainingJobName":"second","TrainingJobStatus":"InProgress","SecondaryStatus":"Training",
       "CreationTime":1700000090.0}]})");
  region.answer("ListTrainingJobs", R"({"TrainingJobSummaries":[
      {"TrainingJobName":"first","TrainingJobStatus":"Failed","SecondaryStatus":"Failed",
       "CreationTime":1700000000.0,"TrainingEndTime":1700000012.5}]})");
  EXPECT_EQ(run({"get"}), 0);
  EXPECT_EQ(out.str(),
            "NAME    STATUS      SECONDARY  AGE   DURATION\n"
            "second  InProgress  Training   10s   -\n"
            "first   Failed      Failed     100s  12.5s\n");
  EXPECT_THAT(region.calls()[1], HasSubstr(R"("NextToken":"t")"));
}

TEST_F(CommandsTest, GetPrintsNamesAndJson) {
  region.answer("DescribeTrainingJob", kJob);
  EXPECT_EQ(run({"get", "trainingjob/digits", "-o", "name"}), 0);
  EXPECT_EQ(out.str(), "digits\n");
  EXPECT_EQ(run({"get", "digits", "-o", "json"}), 0);
  EXPECT_TRUE(base::parse_json(out.str()));
}

TEST_F(CommandsTest, DescribeShowsEverything) {
  region.answer("DescribeTrainingJob", kJob);
  EXPECT_EQ(run({"describe", "digits"}), 0);
  expect_golden("describe.txt", out.str());
}

TEST_F(CommandsTest, LogsAreOrderedByTimeAndPrefixed) {
  region.answer("DescribeTrainingJob", kJob);
  region.answer("DescribeLogStreams", R"({"logStreams":[
      {"logStreamName":"digits/algo-1-17"},{"logStreamName":"digits/algo-2-17"}]})");
  region.answer("GetLogEvents", R"({"nextForwardToken":"a","events":[
      {"timestamp":3,"message":"three"},{"timestamp":5,"message":"five"}]})");
  region.answer("GetLogEvents", R"({"nextForwardToken":"a","events":[]})");
  region.answer("GetLogEvents", R"({"nextForwardToken":"b","events":[
      {"timestamp":4,"message":"four"}]})");
  region.answer("GetLogEvents", R"({"nextForwardToken":"b","events":[]})");
  EXPECT_EQ(run({"logs", "digits"}), 0);
  EXPECT_EQ(out.str(), "algo-1 | three\nalgo-2 | four\nalgo-1 | five\n");
}

TEST_F(CommandsTest, WaitHasTheExitStatusOfTheJob) {
  region.answer("DescribeTrainingJob", kJob);
  EXPECT_EQ(run({"wait", "digits"}), 0);
  region.answer("DescribeTrainingJob",
                R"({"TrainingJobStatus":"Failed","FailureReason":"AlgorithmError: boom"})");
  EXPECT_EQ(run({"wait", "digits"}), 0);  // the first answer once more
  EXPECT_EQ(run({"wait", "digits"}), 1);
  EXPECT_THAT(err.str(), HasSubstr("AlgorithmError: boom"));
}

TEST_F(CommandsTest, StopNamesTheJobToTheRegion) {
  region.answer("StopTrainingJob", "{}");
  EXPECT_EQ(run({"stop", "trainingjob/digits"}), 0);
  EXPECT_THAT(region.calls(), ElementsAre(R"(StopTrainingJob {"TrainingJobName":"digits"})"));
}

TEST_F(CommandsTest, SpotReclaimGoesToOurOwnService) {
  region.answer("spot-reclaim", "{}");
  EXPECT_EQ(run({"spot", "reclaim", "digits"}), 0);
  EXPECT_THAT(region.calls(), ElementsAre(R"(spot-reclaim {"job":"digits"})"));
}

TEST_F(CommandsTest, AFollowedJobEndsWithItsSummary) {
  region.answer("DescribeTrainingJob", R"({"TrainingJobStatus":"InProgress",
      "SecondaryStatus":"Starting","SecondaryStatusTransitions":[
      {"Status":"Starting","StartTime":1700000000.0,"StatusMessage":"Preparing"}]})");
  region.answer("DescribeTrainingJob", R"({"TrainingJobStatus":"InProgress",
      "SecondaryStatus":"Starting","SecondaryStatusTransitions":[
      {"Status":"Starting","StartTime":1700000000.0,"StatusMessage":"Preparing"}]})");
  region.answer("DescribeTrainingJob", kJob);
  region.answer("DescribeLogStreams", R"({"logStreams":[]})");
  EXPECT_EQ(run({"logs", "-f", "digits"}), 0);
  EXPECT_THAT(err.str(), HasSubstr("* Starting: Preparing\n"));
  EXPECT_THAT(err.str(), HasSubstr("* Completed: Training job completed\n"));
  EXPECT_THAT(err.str(), HasSubstr("digits Completed in 12.5s\n"));
}

TEST_F(CommandsTest, FollowingShowsTheLinesAskedForAsAskedFor) {
  region.answer("DescribeTrainingJob", kJob);
  region.answer("DescribeLogStreams", R"({"logStreams":[
      {"logStreamName":"digits/algo-1-17"},{"logStreamName":"digits/algo-2-17"}]})");
  region.answer("GetLogEvents", R"({"nextForwardToken":"a","events":[
      {"timestamp":3,"message":"three"},{"timestamp":5,"message":"five"}]})");
  region.answer("GetLogEvents", R"({"nextForwardToken":"a","events":[]})");
  EXPECT_EQ(run({"logs", "-f", "digits", "--instance", "algo-2", "--tail", "1", "--timestamps"}),
            0);
  EXPECT_THAT(err.str(), testing::StartsWith("1970-01-01T00:00:00.005Z algo-2 | five\n"));
  EXPECT_THAT(err.str(), testing::Not(HasSubstr("three")));
  for (const auto& call : region.calls()) EXPECT_THAT(call, testing::Not(HasSubstr("algo-1-17")));
}

TEST_F(CommandsTest, FollowingCanLeaveOutTheInstance) {
  region.answer("DescribeTrainingJob", kJob);
  region.answer("DescribeLogStreams", R"({"logStreams":[{"logStreamName":"digits/algo-1-17"}]})");
  region.answer("GetLogEvents", R"({"nextForwardToken":"a","events":[
      {"timestamp":3,"message":"three"}]})");
  region.answer("GetLogEvents", R"({"nextForwardToken":"a","events":[]})");
  EXPECT_EQ(run({"logs", "-f", "digits", "--no-prefix"}), 0);
  EXPECT_THAT(err.str(), HasSubstr("three\n"));
  EXPECT_THAT(err.str(), testing::Not(HasSubstr("algo-1")));
}

TEST_F(CommandsTest, EnvironmentIsQuotedForAShell) {
  EXPECT_EQ(run({"env"}), 0);
  EXPECT_THAT(out.str(), HasSubstr("export AWS_ENDPOINT_URL=" + region.url() + "\n"));
  EXPECT_THAT(out.str(), HasSubstr("export AWS_SECRET_ACCESS_KEY='it'\\''s secret'\n"));
  EXPECT_THAT(out.str(), HasSubstr("export AWS_DEFAULT_REGION=us-west-2\n"));
  EXPECT_THAT(out.str(), HasSubstr("/bin:\"$PATH\"\n"));
}

TEST_F(CommandsTest, KeysAreListedWithoutSecrets) {
  region.answer("keys-list", R"({"Keys":[{"AccessKeyId":"AKIA1","User":"alice","Role":"viewer",
                                          "Created":1700000000.0}]})");
  EXPECT_EQ(run({"keys", "list"}), 0);
  EXPECT_EQ(out.str(),
            "ACCESS KEY  USER   ROLE    CREATED\n"
            "AKIA1       alice  viewer  2023-11-14T22:13:20Z\n");
}

TEST_F(CommandsTest, TokensAreListedWithTheirRoles) {
  region.answer("tokens-list",
                R"({"Tokens":[{"Id":"0123456789ab","User":"ann","Created":1700000000.0,
    "Grants":[{"Role":"editor","Namespace":"team-a"},{"Role":"viewer","Namespace":""}]}]})");
  EXPECT_EQ(run({"tokens", "list"}), 0);
  EXPECT_EQ(
      out.str(),
      "ID            USER  ROLES                                        CREATED               "
      "EXPIRES\n"
      "0123456789ab  ann   editor in team-a, viewer in every namespace  2023-11-14T22:13:20Z  -\n");
}

TEST_F(CommandsTest, UpNamesOnlyThePortsThatAreServed) {
  EXPECT_EQ(run({"up", "--help"}), 0);
  EXPECT_THAT(err.str(), HasSubstr("N: AWS face, N+2: health and metrics"));
  EXPECT_THAT(err.str(), testing::Not(HasSubstr("Kubernetes")));
}

TEST_F(CommandsTest, TheVersionIsThatOfTheProgram) {
  EXPECT_EQ(run({"version"}), 0);
  EXPECT_EQ(out.str(), "meridian 1.2.3\n");
}

TEST_F(CommandsTest, AMissingJobIsTheRegionsError) {
  EXPECT_THROW(run({"describe", "nope"}), aws::ApiError);
  EXPECT_THROW(run({"logs", "-f", "nope"}), aws::ApiError);
}

TEST_F(CommandsTest, AnErrorWhileFollowingKeepsItsCode) {
  region.answer("DescribeTrainingJob", kJob);  // the log service does not know the operation
  try {
    run({"logs", "-f", "digits"});
    FAIL();
  } catch (const aws::ApiError& error) {
    EXPECT_EQ(error.aws_code(), "ValidationException");
  }
}

TEST_F(CommandsTest, RegionsAreAddedListedAndRemoved) {
  const std::string keys = (data.path() / "keys").string();
  base::write_file(keys, "[default]\naws_access_key_id = A\naws_secret_access_key = s\n");
  region.answer("ListTrainingJobs", "{}");
  EXPECT_EQ(run({"region", "add", "eu-1", "--endpoint", region.url(), "--keys", keys}), 0);
  EXPECT_EQ(err.str(), "eu-1: answers\n");
  EXPECT_EQ(run({"region", "add", "us-east-1", "--keys", keys}), 0);
  EXPECT_EQ(base::read_file(data.path() / "regions.yaml"),
            "regions:\n  eu-1:\n    endpoint: \"" + region.url() + "\"\n    credentials: " + keys +
                "\n  us-east-1:\n    credentials: " + keys + "\n");
  EXPECT_EQ(run({"region", "list"}), 0);
  EXPECT_THAT(out.str(), HasSubstr("us-east-1  AWS "));
  EXPECT_EQ(run({"region", "remove", "eu-1"}), 0);
  EXPECT_EQ(run({"region", "list", "-o", "json"}), 0);
  EXPECT_THAT(out.str(), testing::Not(HasSubstr("eu-1")));
  EXPECT_THROW(run({"region", "remove", "eu-1"}), base::Error);
}

TEST_F(CommandsTest, ARegionThatCannotBeMeantIsRefusedWithWhatToDo) {
  EXPECT_THROW(run({"region", "add", "EU", "--endpoint", "http://x"}), base::Error);
  EXPECT_THROW(run({"region", "add", "eu-1"}), base::Error);
  EXPECT_THROW(run({"region", "add", "eu-1", "--endpoint", "x:1"}), base::Error);
  EXPECT_THROW(run({"region", "add", "eu-1", "--keys", "/nonexistent"}), base::Error);
  EXPECT_FALSE(std::filesystem::exists(data.path() / "regions.yaml"));
}

}  // namespace
}  // namespace meridian::cli
