// The SageMaker operations as a client sees them.
//
// SPDX-License-Identifier: Apache-2.0
#include "region/training/fixture.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class OperationsTest : public RegionTest {
 protected:
  std::string refused(const JsonObject& job) { return refusal("CreateTrainingJob", job); }
  std::vector<std::string> names(const Json& page) {
    std::vector<std::string> found;
    for (const Json& each : page.at("TrainingJobSummaries").as_array())
      found.push_back(base::string_or(each, "TrainingJobName"));
    return found;
  }
  // Every page to the end, as a paginator reads them.
  std::vector<std::string> all_names(JsonObject input) {
    std::vector<std::string> found;
    for (;;) {
      Json page = call("ListTrainingJobs", input);
      for (auto& name : names(page)) found.push_back(name);
      auto token = base::find_string(page, "NextToken");
      if (!token) return found;
      input["NextToken"] = *token;
    }
  }
  void create_five() {
    for (const char* name : {"c", "a", "e", "b", "d"}) {
      call("CreateTrainingJob", request(name, 1));
      clock_.advance(base::Duration(1000));
    }
  }
};

JsonObject s3_channel(const std::string& name, const std::string& uri) {
  return {{"ChannelName", name},
          {"DataSource", {{"S3DataSource", {{"S3DataType", "S3Prefix"}, {"S3Uri", uri}}}}}};
}

TEST_F(OperationsTest, ANameUsedBeforeIsInUseEvenByAFinishedJob) {
  start(request("j"));
  end("j", "1/algo-1", run::exited(0));
  EXPECT_THAT(refused(request("j")),
              AllOf(StartsWith("ResourceInUse: "), HasSubstr("already exists"),
                    HasSubstr("training-job/j")));
}

TEST_F(OperationsTest, AMissingJobIsAValidationExceptionThatClientsKnow) {
  for (const char* operation : {"DescribeTrainingJob", "StopTrainingJob", "UpdateTrainingJob"})
    EXPECT_THAT(refusal(operation, {{"TrainingJobName", "none"}}),
                StartsWith("ValidationException: Requested resource not found"))
        << operation;
}

TEST_F(OperationsTest, AGangAboveThePoolIsRefusedAtCreate) {
  EXPECT_THAT(refused(request("j", 128)),
              AllOf(StartsWith("ResourceLimitExceeded: "),
                    HasSubstr("requested 128, pool has 8; set pools.default.count")));
}

TEST_F(OperationsTest, SpotNeedsAMaxWaitOfAtLeastMaxRuntime) {
  JsonObject job = request("j");
  job["EnableManagedSpotTraining"] = true;
  EXPECT_THAT(refused(job), HasSubstr("MaxWaitTimeInSeconds is required"));
  job["StoppingCondition"] = {{"MaxRuntimeInSeconds", 100}, {"MaxWaitTimeInSeconds", 99}};
  EXPECT_THAT(refused(job), HasSubstr("must be equal to or greater than MaxRuntimeInSeconds"));
  job["StoppingCondition"] = {{"MaxRuntimeInSeconds", 100}, {"MaxWaitTimeInSeconds", 100}};
  EXPECT_EQ(refused(job), "accepted");
}

TEST_F(OperationsTest, ARuntimeHasAnEnd) {
  JsonObject job = request("j");
  job["StoppingCondition"] = {{"MaxRuntimeInSeconds", 28 * 86'400 + 1}};
  EXPECT_THAT(refused(job), HasSubstr("at most 2419200 (28 days)"));
  job["StoppingCondition"] = {{"MaxRuntimeInSeconds", 28 * 86'400}};
  EXPECT_EQ(refused(job), "accepted");
}

TEST_F(OperationsTest, ABuiltInAlgorithmWithoutCheckpointsWaitsAnHourAtMost) {
  JsonObject job = request("j");
  job["AlgorithmSpecification"] = {{"TrainingImage", "sagemaker-xgboost:1.7-1"},
                                   {"TrainingInputMode", "File"}};
  job["EnableManagedSpotTraining"] = true;
  job["StoppingCondition"] = {{"MaxRuntimeInSeconds", 60}, {"MaxWaitTimeInSeconds", 3601}};
  EXPECT_THAT(refused(job), HasSubstr("at most 3600 for a built-in algorithm"));
  job["CheckpointConfig"] = {{"S3Uri", "s3://out/ckpt"}};
  EXPECT_EQ(refused(job), "accepted");
}

TEST_F(OperationsTest, AVolumeIsNeededUnlessTheTypeHasDisks) {
  JsonObject job = request("j");
  job["ResourceConfig"].as_object().erase("VolumeSizeInGB");
  EXPECT_THAT(refused(job), HasSubstr("VolumeSizeInGB is required"));
  job["ResourceConfig"].as_object()["InstanceType"] = "ml.g5.2xlarge";
  EXPECT_EQ(refused(job), "accepted");
}

TEST_F(OperationsTest, AMetricWhoseRegexDoesNotCompileIsRefusedByName) {
  JsonObject job = request("j");
  base::JsonObject algorithm = job.at("AlgorithmSpecification").as_object();
  algorithm["MetricDefinitions"] = JsonArray{{{"Name", "loss"}, {"Regex", "loss=([0-9"}}};
  job["AlgorithmSpecification"] = algorithm;
  EXPECT_THAT(refused(job), HasSubstr("the Regex of 'loss'"));
}

TEST_F(OperationsTest, ChannelsAreCheckedBeforeTheJobIsAccepted) {
  JsonObject job = request("j");
  job["InputDataConfig"] = JsonArray{s3_channel("train", "s3://data/none/")};
  EXPECT_THAT(refused(job), StartsWith("ValidationException: No S3 objects found under S3 URL"));
  job["InputDataConfig"] = JsonArray{s3_channel("train", "s3://missing/x")};
  EXPECT_THAT(refused(job), HasSubstr("bucket 'missing'"));
  objects_.put_bytes("data", "x", "1");
  job["InputDataConfig"] =
      JsonArray{s3_channel("train", "s3://data/x"), s3_channel("train", "s3://data/x")};
  EXPECT_THAT(refused(job), HasSubstr("channel 'train' twice"));
  JsonObject gzip = s3_channel("train", "s3://data/x");
  gzip["CompressionType"] = "Gzip";
  job["InputDataConfig"] = JsonArray{gzip};
  EXPECT_THAT(refused(job), HasSubstr("Gzip needs InputMode Pipe"));
}

TEST_F(OperationsTest, ARoleHasToLookLikeOne) {
  JsonObject job = request("j");
  job["RoleArn"] = "arn:aws:iam::12:user/someone-else";
  EXPECT_THAT(refused(job), StartsWith("ValidationException: Could not assume role"));
}

TEST_F(OperationsTest, InstanceGroupsAndInstanceTypeExcludeEachOther) {
  JsonObject job = request("j");
  job["ResourceConfig"].as_object()["InstanceGroups"] = JsonArray{JsonObject{
      {"InstanceGroupName", "a"}, {"InstanceType", "ml.m5.large"}, {"InstanceCount", 1}}};
  EXPECT_THAT(refused(job), HasSubstr("exclude each other"));
}

TEST_F(OperationsTest, AnUnknownFileSystemNamesTheSetting) {
  JsonObject job = request("j");
  job["InputDataConfig"] = JsonArray{JsonObject{
      {"ChannelName", "fs"},
      {"DataSource",
       {{"FileSystemDataSource",
         {{"FileSystemId", "fs-9"}, {"FileSystemType", "EFS"}, {"DirectoryPath", "/"}}}}}}};
  EXPECT_THAT(refused(job), HasSubstr("file_systems.fs-9"));
}

TEST_F(OperationsTest, DescribeEchoesTheRequestAndWarnsOfWhatItDoesNotDo) {
  JsonObject job = request("j");
  job["VpcConfig"] = {{"SecurityGroupIds", JsonArray{"sg-1"}}, {"Subnets", JsonArray{"s-1"}}};
  job["FieldOfTheFuture"] = "kept";
  call("CreateTrainingJob", job);
  Json seen = describe("j");
  EXPECT_EQ(base::string_or(seen, "FieldOfTheFuture"), "kept");
  EXPECT_EQ(base::string_or(seen, "RoleArn"), "arn:aws:iam::000000000000:role/trainer");
  EXPECT_FALSE(base::bool_or(seen, "EnableManagedSpotTraining", true));
  std::string warnings = base::to_text(*base::find_path(seen, "Meridian.Warnings"));
  EXPECT_THAT(warnings, AllOf(HasSubstr("FieldOfTheFuture: unknown field"),
                              HasSubstr("VpcConfig: not enforced")));
  EXPECT_EQ(base::find_path(seen, "Meridian.Cost.Text")->as_string(), "no price for ml.m5.large");
}

TEST_F(OperationsTest, DescribeFillsInWhatClientsIndexUnasked) {
  JsonObject job = request("j");
  job["StoppingCondition"] = JsonObject{};
  call("CreateTrainingJob", job);
  Json seen = describe("j");
  EXPECT_EQ(base::find_string(seen.at("OutputDataConfig"), "KmsKeyId"), "");
  EXPECT_EQ(base::int_or(seen.at("StoppingCondition"), "MaxRuntimeInSeconds", 0), 86'400);
  for (const char* flag : {"EnableNetworkIsolation", "EnableInterContainerTrafficEncryption",
                           "EnableManagedSpotTraining"})
    EXPECT_FALSE(base::bool_or(seen, flag, true)) << flag;
}

TEST_F(OperationsTest, DescribeKeepsTheKeyAndTheLimitOfTheRequest) {
  JsonObject job = request("j");
  job["OutputDataConfig"].as_object()["KmsKeyId"] = "alias/mine";
  call("CreateTrainingJob", job);
  Json seen = describe("j");
  EXPECT_EQ(base::find_string(seen.at("OutputDataConfig"), "KmsKeyId"), "alias/mine");
  EXPECT_EQ(base::int_or(seen.at("StoppingCondition"), "MaxRuntimeInSeconds", 0), 3600);
}

class StrictOperationsTest : public OperationsTest {
 protected:
  StrictOperationsTest() { restart(); }
  void adjust(Settings& settings) override { settings.refuse_unenforced = true; }
};

TEST_F(StrictOperationsTest, StrictRefusesWhatItCannotEnforce) {
  JsonObject job = request("j");
  job["EnableInterContainerTrafficEncryption"] = true;
  EXPECT_THAT(refused(job), HasSubstr("--strict"));
}

TEST_F(OperationsTest, EveryPageSizeListsTheSameJobs) {
  create_five();
  for (int size : {1, 2, 20})
    EXPECT_THAT(all_names({{"MaxResults", size}}), ElementsAre("c", "a", "e", "b", "d")) << size;
  EXPECT_THAT(all_names({}), ElementsAre("c", "a", "e", "b", "d"));
}

TEST_F(OperationsTest, ListsSortByNameAndCreationBothWays) {
  create_five();
  EXPECT_THAT(all_names({{"SortBy", "Name"}, {"MaxResults", 2}}),
              ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(all_names({{"SortBy", "Name"}, {"SortOrder", "Descending"}, {"MaxResults", 2}}),
              ElementsAre("e", "d", "c", "b", "a"));
  EXPECT_THAT(all_names({{"SortOrder", "Descending"}}), ElementsAre("d", "b", "e", "a", "c"));
}

TEST_F(OperationsTest, StatusEqualsAppliesAfterMaxResultsAndPagesStillEnd) {
  create_five();
  call("StopTrainingJob", {{"TrainingJobName", "e"}});
  Json first = call("ListTrainingJobs", {{"MaxResults", 1}, {"StatusEquals", "Stopping"}});
  EXPECT_THAT(names(first), testing::IsEmpty());
  EXPECT_TRUE(base::find_string(first, "NextToken"));
  EXPECT_THAT(all_names({{"MaxResults", 1}, {"StatusEquals", "Stopping"}}), ElementsAre("e"));
}

TEST_F(OperationsTest, TimeAndNameFiltersFillThePage) {
  double start = clock_.now().seconds();
  create_five();
  EXPECT_THAT(all_names({{"CreationTimeAfter", start + 1.5}, {"MaxResults", 2}}),
              ElementsAre("e", "b", "d"));
  EXPECT_THAT(all_names({{"CreationTimeBefore", start + 1.5}}), ElementsAre("c", "a"));
  EXPECT_THAT(all_names({{"LastModifiedTimeAfter", start + 3.5}, {"MaxResults", 1}}),
              ElementsAre("d"));
  EXPECT_THAT(names(call("ListTrainingJobs", {{"NameContains", "d"}, {"MaxResults", 1}})),
              ElementsAre("d"));
}

TEST_F(OperationsTest, ATokenThatIsNoneIsRefused) {
  EXPECT_THAT(refusal("ListTrainingJobs", {{"NextToken", "nonsense"}}),
              StartsWith("ValidationException: "));
}

TEST_F(OperationsTest, TagsAreAddedReplacedListedAndRemoved) {
  JsonObject job = request("j");
  job["Tags"] = JsonArray{JsonObject{{"Key", "team"}, {"Value", "a"}}};
  std::string arn = base::string_or(call("CreateTrainingJob", job), "TrainingJobArn");
  call("AddTags", {{"ResourceArn", arn},
                   {"Tags", JsonArray{JsonObject{{"Key", "team"}, {"Value", "b"}},
                                      JsonObject{{"Key", "x"}, {"Value", "1"}}}}});
  call("DeleteTags", {{"ResourceArn", arn}, {"TagKeys", JsonArray{"x"}}});
  EXPECT_EQ(base::to_text(call("ListTags", {{"ResourceArn", arn}})),
            R"({"Tags":[{"Key":"team","Value":"b"}]})");
  EXPECT_THAT(refusal("ListTags", {{"ResourceArn", arn + "x"}}), HasSubstr("not found"));
}

TEST_F(OperationsTest, UpdateChangesTheKeepAliveOfJobsThatHaveOne) {
  JsonObject job = request("j");
  job["ResourceConfig"].as_object()["KeepAlivePeriodInSeconds"] = 60;
  call("CreateTrainingJob", job);
  call("UpdateTrainingJob", {{"TrainingJobName", "j"},
                             {"ResourceConfig", {{"KeepAlivePeriodInSeconds", 120}}},
                             {"ProfilerConfig", {{"DisableProfiler", true}}}});
  Json seen = describe("j");
  EXPECT_EQ(base::find_path(seen, "ResourceConfig.KeepAlivePeriodInSeconds")->to_number<int>(),
            120);
  EXPECT_EQ(base::string_or(seen, "ProfilingStatus"), "Disabled");
  call("CreateTrainingJob", request("k"));
  EXPECT_THAT(
      refusal("UpdateTrainingJob",
              {{"TrainingJobName", "k"}, {"ResourceConfig", {{"KeepAlivePeriodInSeconds", 120}}}}),
      StartsWith("ValidationException: "));
}

TEST_F(OperationsTest, AFinishedJobCanBeDeletedAndItsNameUsedAgain) {
  start(request("j"));
  EXPECT_THAT(refusal("DeleteTrainingJob", {{"TrainingJobName", "j"}}), HasSubstr("InProgress"));
  end("j", "1/algo-1", run::exited(0));
  call("DeleteTrainingJob", {{"TrainingJobName", "j"}});
  EXPECT_THAT(refusal("DeleteTrainingJob", {{"TrainingJobName", "j"}}),
              StartsWith("ResourceNotFound: "));
  EXPECT_THAT(refusal("DescribeTrainingJob", {{"TrainingJobName", "j"}}), HasSubstr("not found"));
  start(request("j"));
  EXPECT_EQ(status("j"), "InProgress/Training");
}

TEST_F(OperationsTest, SearchFindsJobsByPropertiesTagsAndHyperparameters) {
  for (int i = 0; i < 3; ++i) {
    JsonObject job = request("job-" + std::to_string(i));
    job["HyperParameters"] = {{"lr", "0." + std::to_string(i)}};
    job["Tags"] = JsonArray{JsonObject{{"Key", "team"}, {"Value", i ? "red" : "blue"}}};
    call("CreateTrainingJob", job);
    clock_.advance(base::Duration(1000));
  }
  auto found = [&](JsonArray filters, const char* op = "And") {
    Json answer = call("Search", {{"Resource", "TrainingJob"},
                                  {"SearchExpression", {{"Filters", filters}, {"Operator", op}}},
                                  {"SortBy", "CreationTime"},
                                  {"SortOrder", "Ascending"}});
    std::vector<std::string> names;
    for (const Json& each : answer.at("Results").as_array())
      names.push_back(base::string_or(each.at("TrainingJob"), "TrainingJobName"));
    return names;
  };
  auto filter = [](const char* name, const char* op, const char* value) {
    return Json(JsonObject{{"Name", name}, {"Operator", op}, {"Value", value}});
  };
  EXPECT_THAT(found(JsonArray{filter("Tags.team", "Equals", "red")}),
              ElementsAre("job-1", "job-2"));
  EXPECT_THAT(found(JsonArray{filter("HyperParameters.lr", "GreaterThan", "0.1")}),
              ElementsAre("job-2"));
  EXPECT_THAT(found(JsonArray{filter("TrainingJobName", "Contains", "-0"),
                              filter("Tags.team", "Equals", "red")},
                    "Or"),
              ElementsAre("job-0", "job-1", "job-2"));
  EXPECT_THAT(found(JsonArray{filter("Metrics.acc", "Exists", "")}), testing::IsEmpty());
}

TEST_F(OperationsTest, SearchPagesCoverEverythingOnce) {
  create_five();
  std::vector<std::string> names;
  JsonObject input{{"Resource", "TrainingJob"}, {"MaxResults", 2}};
  for (;;) {
    Json page = call("Search", input);
    for (const Json& each : page.at("Results").as_array())
      names.push_back(base::string_or(each.at("TrainingJob"), "TrainingJobName"));
    auto token = base::find_string(page, "NextToken");
    if (!token) break;
    input["NextToken"] = *token;
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(refusal("Search", {{"Resource", "Endpoint"}}), HasSubstr("TrainingJob only"));
}

TEST_F(OperationsTest, WhySaysForWhomAJobWaits) {
  start(request("a", 8));
  start(request("b", 1));
  Json answer = region_->meridian_calls().at("why")({}, {{"job", "b"}});
  EXPECT_THAT(base::string_or(answer, "reason"), HasSubstr("held by training/a (8)"));
}

}  // namespace
}  // namespace meridian::region::training
