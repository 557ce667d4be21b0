// What an instance finds and what stays of a job, beside lifecycle_test.
//
// SPDX-License-Identifier: Apache-2.0
#include "region/training/fixture.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using run::exited;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

JsonObject prefix_channel(const std::string& name, const std::string& uri) {
  return {{"ChannelName", name},
          {"DataSource", {{"S3DataSource", {{"S3DataType", "S3Prefix"}, {"S3Uri", uri}}}}}};
}

TEST_F(RegionTest, InstancesFindWhatIsThereOnAwsThoughNobodyDescribesIt) {
  objects_.put_bytes("data", "train/a/b.csv", "1,2");
  objects_.put_bytes("data", "train/c.csv", "3");
  JsonObject job = request("j", 2);
  job["InputDataConfig"] = JsonArray{prefix_channel("train", "s3://data/train/")};
  start(job);
  const auto ml = this->ml("j", "1/algo-2");
  EXPECT_EQ(base::read_file(ml / "input/data/train-manifest"),
            R"([{"prefix":"s3://data/train/"},"a/b.csv","c.csv"])");
  const auto read = [&](const char* file) {
    return base::parse_json(base::read_file(ml / "input/config" / file)).value();
  };
  EXPECT_EQ(base::string_or(read("trainingjobconfig.json"), "TrainingJobName"), "j");
  const Json init = read("init-config.json");
  EXPECT_EQ(base::find_path(init, "hostConfig.hostNumber")->to_number<int>(), 2);
  EXPECT_TRUE(read("upstreamoutputdataconfig.json").is_array());
  for (const char* each : {"output/metrics/sagemaker", "output/profiler", "output/intermediate"})
    EXPECT_TRUE(std::filesystem::is_directory(ml / each)) << each;
}

TEST_F(RegionTest, KeysAreServedInsideAndNoneAreGivenInIsolation) {
  start(request("j"));
  auto spec = engine_.spec(instance("j", "1/algo-1"));
  ASSERT_TRUE(spec.credentials);
  EXPECT_EQ(spec.credentials->access_key_id, spec.environment["AWS_ACCESS_KEY_ID"]);
  EXPECT_EQ(spec.credentials->role_arn, "arn:aws:iam::000000000000:role/trainer");
  EXPECT_EQ(spec.credentials->expires.ms, clock_.now().ms + 3'600'000 + 86'400'000);
  JsonObject isolated = request("alone");
  isolated["EnableNetworkIsolation"] = true;
  start(isolated);
  spec = engine_.spec(instance("alone", "1/algo-1"));
  EXPECT_FALSE(spec.credentials);
  EXPECT_FALSE(spec.environment.contains("AWS_ACCESS_KEY_ID"));
}

TEST_F(RegionTest, InputThatTheVolumeHasNoRoomForIsRefused) {
  objects_.put_bytes("data", "x", "1");
  JsonObject job = request("j");
  job["ResourceConfig"].as_object()["VolumeSizeInGB"] = 0;
  job["InputDataConfig"] = JsonArray{prefix_channel("train", "s3://data/x")};
  start(job);
  EXPECT_THAT(base::string_or(describe("j"), "FailureReason"),
              testing::AllOf(StartsWith("ClientError: the input data takes 1 B on algo-1"),
                             HasSubstr("VolumeSizeInGB (0)"), HasSubstr("channel 'train'")));
}

TEST_F(RegionTest, CodeThatAnImageBringsWins) {
  objects_.put_bytes("code", "s.tar.gz", "no archive at all");
  auto with_image = [&](const std::string& name, const std::string& image) {
    JsonObject job = request(name);
    job["AlgorithmSpecification"] = {{"TrainingImage", image}, {"TrainingInputMode", "File"}};
    job["HyperParameters"] = {{"sagemaker_program", "train.py"}};
    return job;
  };
  auto covered = [&](const std::string& name) {
    std::vector<std::string> inside;
    for (const auto& mount : engine_.spec(instance(name, "1/algo-1")).mounts)
      inside.push_back(mount.inside.string());
    return inside;
  };
  JsonObject coded = with_image("coded", "coded:latest");
  coded["HyperParameters"].as_object()["sagemaker_submit_directory"] = "s3://code/s.tar.gz";
  start(coded);
  EXPECT_THAT(covered("coded"), ElementsAre("/opt/ml/checkpoints", "/opt/ml/errors",
                                            "/opt/ml/input", "/opt/ml/model", "/opt/ml/output"));
  const Json described = describe("coded");
  EXPECT_THAT(base::to_text(*base::find_path(described, "Meridian.Warnings")),
              HasSubstr("wins over sagemaker_submit_directory"));
  // An image without code gets the request's.
  JsonObject empty = with_image("empty", "own:latest");
  empty["HyperParameters"].as_object()["sagemaker_submit_directory"] = "s3://code/s.tar.gz";
  start(empty);
  EXPECT_THAT(base::string_or(describe("empty"), "FailureReason"),
              HasSubstr("unpacking sagemaker_submit_directory"));
}

TEST_F(RegionTest, AScriptMayBeNamedByTheEnvironment) {
  JsonObject job = request("j");
  job["AlgorithmSpecification"] = {{"TrainingImage", "host"}, {"TrainingInputMode", "File"}};
  job["Environment"] = {{"SAGEMAKER_PROGRAM", "train.py"}};
  start(job);
  EXPECT_EQ(engine_.spec(instance("j", "1/algo-1")).environment["SM_USER_ENTRY_POINT"], "train.py");
}

TEST_F(RegionTest, RulesThatNobodyEvaluatesSaySo) {
  JsonObject job = request("j");
  job["DebugRuleConfigurations"] = JsonArray{JsonObject{{"RuleConfigurationName", "vanishing"}}};
  start(job);
  const Json described = describe("j");
  const Json& rule = described.at("DebugRuleEvaluationStatuses").as_array()[0];
  EXPECT_EQ(base::string_or(rule, "RuleConfigurationName"), "vanishing");
  EXPECT_EQ(base::string_or(rule, "RuleEvaluationStatus"), "Stopped");
  EXPECT_FALSE(base::find(described, "ProfilerRuleEvaluationStatuses"));
}

TEST_F(RegionTest, ConfigurationsOfToolsAreFilesAndTheirDirectoriesGoToS3) {
  JsonObject job = request("j");
  job["CheckpointConfig"] = {{"S3Uri", "s3://out/ckpt"}};
  job["DebugHookConfig"] = {{"S3OutputPath", "s3://out/debug/"}};
  job["ProfilerConfig"] = {{"S3OutputPath", "s3://out/profile"}};
  job["TensorBoardOutputConfig"] = {{"S3OutputPath", "s3://out/board"}};
  job["HyperParameters"] = {{"sagemaker_s3_output", "\"s3://out/toolkit\""}};
  start(job);
  const auto config = ml("j", "1/algo-1") / "input/config";
  EXPECT_EQ(base::read_file(config / "checkpointconfig.json"),
            R"({"LocalPath":"/opt/ml/checkpoints","S3Uri":"s3://out/ckpt"})");
  EXPECT_EQ(base::read_file(config / "debughookconfig.json"),
            R"({"S3OutputPath":"s3://out/debug/"})");
  EXPECT_EQ(base::read_file(config / "profilerconfig.json"),
            R"({"S3OutputPath":"s3://out/profile"})");
  for (const char* where : {"tensors/t", "profiler/p", "tensorboard/b", "intermediate/i"})
    base::write_file(ml("j", "1/algo-1") / "output" / where, "1");
  end("j", "1/algo-1", exited(0));
  for (const char* key : {"debug/j/debug-output/t", "profile/j/profiler-output/p",
                          "board/j/tensorboard-output/b", "toolkit/j/output/intermediate/i"})
    EXPECT_TRUE(objects_.find("out", key)) << key;
}

TEST_F(RegionTest, WhatAFailedJobPutOutIsKeptButNoModel) {
  start(request("j"));
  base::write_file(ml("j", "1/algo-1") / "output/data/trace", "1");
  base::write_file(ml("j", "1/algo-1") / "model/weights", "1");
  end("j", "1/algo-1", exited(1));
  EXPECT_TRUE(objects_.find("out", "results/j/output/output.tar.gz"));
  EXPECT_FALSE(objects_.find("out", "results/j/output/model.tar.gz"));
}

TEST_F(RegionTest, FewerObjectsThanHostsIsToldBeforeTheStart) {
  objects_.put_bytes("data", "x", "1");
  JsonObject job = request("j", 2);
  JsonObject channel = prefix_channel("train", "s3://data/x");
  channel["DataSource"].as_object()["S3DataSource"].as_object()["S3DataDistributionType"] =
      "ShardedByS3Key";
  job["InputDataConfig"] = JsonArray{channel};
  start(job);
  EXPECT_THAT(base::string_or(describe("j"), "FailureReason"),
              testing::AllOf(StartsWith("ClientError: "), HasSubstr("without an object")));
}

TEST_F(RegionTest, AChannelsOwnInputModeWins) {
  objects_.put_bytes("data", "x", "1");
  JsonObject job = request("j");
  job["AlgorithmSpecification"].as_object()["TrainingInputMode"] = "Pipe";
  JsonObject channel = prefix_channel("train", "s3://data/x");
  channel["InputMode"] = "File";
  job["InputDataConfig"] = JsonArray{channel};
  start(job);
  EXPECT_TRUE(std::filesystem::is_directory(ml("j", "1/algo-1") / "input/data/train"));
  EXPECT_EQ(engine_.spec(instance("j", "1/algo-1")).mounts.back().inside,
            "/opt/ml/input/data/train");
}

TEST_F(RegionTest, HowEachInstanceEndedStaysWithTheJob) {
  start(request("j", 2));
  end("j", "1/algo-1", exited(0));
  end("j", "1/algo-2", exited(0));
  const Json described = describe("j");
  const auto& instances = base::find_path(described, "Meridian.Instances")->as_array();
  ASSERT_EQ(instances.size(), 2u);
  EXPECT_EQ(base::string_or(instances[1], "Host"), "algo-2");
  EXPECT_EQ(base::string_or(instances[1], "Kind"), "Exited");
  EXPECT_EQ(base::int_or(instances[1], "ExitCode", -1), 0);
}

TEST_F(RegionTest, TheEndOfAFailedJobIsTheSightOfItsFailure) {
  start(request("j", 2));
  engine_.ignore_stops();
  const double seen = clock_.now().seconds();
  end("j", "1/algo-1", exited(1));
  EXPECT_EQ(base::double_or(describe("j"), "TrainingEndTime", 0), seen);
}

}  // namespace
}  // namespace meridian::region::training
