// SPDX-License-Identifier: Apache-2.0
#include "cli/job_view.h"

#include <gmock/gmock.h>

#include <sstream>

#include "base/json.h"
#include "base/strings.h"
#include "cli/golden.h"
#include "cli/log_reader.h"

namespace meridian::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const JobView::Metrics kMetrics{{"loss", "loss=([0-9.e+-]+)"}, {"accuracy", "accuracy=([0-9.]+)"}};

base::Json running() {
  return *base::parse_json(R"({
    "TrainingJobName": "digits", "TrainingJobStatus": "InProgress", "SecondaryStatus": "Training",
    "CreationTime": 1700000000.0,
    "ResourceConfig": {"InstanceCount": 2, "InstanceType": "ml.m5.large"},
    "SecondaryStatusTransitions": [
      {"Status": "Starting", "StartTime": 1700000000.0, "EndTime": 1700000001.0,
       "StatusMessage": "Preparing the instances for training"},
      {"Status": "Training", "StartTime": 1700000001.0, "StatusMessage": "Training in progress"}]})");
}

base::Json completed() {
  auto answer = running();
  auto& object = answer.as_object();
  object["TrainingJobStatus"] = object["SecondaryStatus"] = "Completed";
  object["TrainingEndTime"] = 1700000012.5;
  object["TrainingTimeInSeconds"] = 11;
  object["BillableTimeInSeconds"] = 11;
  object["ModelArtifacts"] =
      base::JsonObject{{"S3ModelArtifacts", "s3://b/output/digits/output/model.tar.gz"}};
  object["FinalMetricDataList"] = *base::parse_json(
      R"([{"MetricName":"loss","Value":0.0697},{"MetricName":"accuracy","Value":0.98886}])");
  object["Meridian"] = *base::parse_json(R"json({
    "Cost": {"Text": "list-price equivalent $0.0007 (EC2 list price 2022)", "Usd": 0.0007},
    "Warnings": ["metric 'x' matched no line"]})json");
  return answer;
}

std::string text_of(const std::vector<std::string>& lines) {
  return base::join(lines, "\n") + "\n";
}

class JobViewTest : public testing::Test {
 protected:
  std::ostringstream out, err;
  Console plain{out, err, {}};
  JobView view{"digits", kMetrics};
};

TEST_F(JobViewTest, TheBlockShowsEachInstanceWithItsLastMetrics) {
  view.describe(running());
  view.log("algo-1", "epoch=1 loss=1.5 accuracy=0.5");
  view.log("algo-1", "epoch=2 loss=3.2e-05 accuracy=0.75");
  view.log("algo-2", "no metric here");
  expect_golden("block.txt", text_of(view.block(plain, {1'700'000'008'000})));
}

TEST_F(JobViewTest, TheBlockShowsWhatTheRegionSaysOfInstancesAndStaging) {
  auto answer = running();
  answer.as_object()["Meridian"] = *base::parse_json(R"json({
    "Instances": [{"Host": "algo-1", "Phase": "running"},
                  {"Host": "algo-2", "Phase": "ended", "ExitCode": 3}],
    "Staging": {"FilesDone": 3, "FilesTotal": 40, "BytesDone": 1572864, "BytesTotal": 2097152}})json");
  view.describe(answer);
  const auto text = text_of(view.block(plain, {1'700'000'008'000}));
  EXPECT_THAT(text, testing::HasSubstr("Training in progress: 3/40 files, 1.5 MiB of 2.0 MiB"));
  EXPECT_THAT(text, testing::HasSubstr("algo-1   running"));
  EXPECT_THAT(text, testing::HasSubstr("algo-2   ended 3"));
}

TEST_F(JobViewTest, TheSummaryHasMetricsArtifactTimesAndCost) {
  view.describe(completed());
  EXPECT_TRUE(view.terminal());
  expect_golden("summary.txt", text_of(view.summary(plain)));
}

TEST_F(JobViewTest, AnUnknownPriceIsNoGuessButSaysWhereToGiveIt) {
  auto answer = completed();
  answer.as_object()["Meridian"].as_object()["Cost"] =
      *base::parse_json(R"({"Text": "no price for ml.m5.large"})");
  view.describe(answer);
  EXPECT_THAT(text_of(view.summary(plain)),
              testing::HasSubstr("\n  cost      no list price for ml.m5.large "
                                 "(set price_per_hour in config.yaml)\n"));
}

TEST_F(JobViewTest, AFailureIsExplained) {
  auto answer = running();
  answer.as_object()["TrainingJobStatus"] = "Failed";
  answer.as_object()["FailureReason"] = "AlgorithmError: boom, exit code: 3";
  view.describe(answer);
  EXPECT_THAT(text_of(view.summary(plain)), testing::HasSubstr("boom, exit code: 3"));
}

TEST_F(JobViewTest, ATransitionIsToldOnce) {
  view.describe(running());
  EXPECT_THAT(view.news(), ElementsAre("Starting: Preparing the instances for training",
                                       "Training: Training in progress"));
  EXPECT_THAT(view.news(), IsEmpty());
}

TEST_F(JobViewTest, AChangedMessageOfTheLastTransitionIsTold) {
  auto answer = running();
  view.describe(answer);
  view.news();
  answer.as_object()["SecondaryStatusTransitions"].as_array()[1].as_object()["StatusMessage"] =
      "Waiting for capacity";
  view.describe(answer);
  EXPECT_THAT(view.news(), ElementsAre("Training: Waiting for capacity"));
}

TEST(MetricLines, TabsMatchAsTheyAreAndEscaped) {
  const JobView::Metrics raw_form{{"a", R"(\[\d+\]\ttrain-rmse:([0-9.]+))"}};
  const JobView::Metrics escaped_form{{"a", R"(.*\[[0-9]+\].*#011train-rmse:([0-9.]+).*)"}};
  const MetricLines raw(raw_form), escaped(escaped_form);
  EXPECT_THAT(raw.match("[3]\ttrain-rmse:0.5"), ElementsAre(testing::Pair("a", 0.5)));
  EXPECT_THAT(escaped.match("[3]\ttrain-rmse:0.5"), ElementsAre(testing::Pair("a", 0.5)));
}

TEST(MetricLines, WhatIsNoNumberOrNoExpressionIsPassedOver) {
  const JobView::Metrics definitions{{"broken", "("}, {"text", "cat=(.*);"}};
  const MetricLines lines(definitions);
  EXPECT_THAT(lines.match("cat=dog;"), IsEmpty());
  EXPECT_THAT(lines.match(std::string(300'000, 'x')), IsEmpty());
}

TEST(LogStreams, NameTheirHost) {
  EXPECT_EQ(host_of_stream("job/algo-1-1700000000"), "algo-1");
  EXPECT_EQ(host_of_stream("job/algo-12-1700000000"), "algo-12");
  EXPECT_EQ(host_of_stream("job/platform"), "platform");
  EXPECT_EQ(host_of_stream("job/algo-1"), "algo-1");
}

}  // namespace
}  // namespace meridian::cli
