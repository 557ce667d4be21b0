// A job from its creation to its end, with fake instances.
//
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "base/metrics.h"
#include "region/training/fixture.h"
#include "run/log_file.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using run::exited;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> secondaries(const Json& job) {
  std::vector<std::string> seen;
  for (const Json& each : job.at("SecondaryStatusTransitions").as_array())
    seen.push_back(base::string_or(each, "Status"));
  return seen;
}

TEST_F(RegionTest, AJobRunsFromCreationToItsModel) {
  JsonObject job = request("j", 2);
  objects_.put_bytes("data", "train/a.csv", "1,2");
  job["InputDataConfig"] = JsonArray{JsonObject{
      {"ChannelName", "train"},
      {"DataSource",
       {{"S3DataSource", {{"S3DataType", "S3Prefix"}, {"S3Uri", "s3://data/train/"}}}}}}};
  EXPECT_EQ(base::string_or(call("CreateTrainingJob", job), "TrainingJobArn"),
            "arn:aws:sagemaker:us-west-2:000000000000:training-job/j");
  EXPECT_EQ(status("j"), "InProgress/Starting");
  settle();
  EXPECT_EQ(status("j"), "InProgress/Training");
  base::write_file(ml("j", "1/algo-1") / "model/weights", "w");
  clock_.advance(base::Duration(90'000));
  end("j", "1/algo-1", exited(0));
  EXPECT_EQ(status("j"), "InProgress/Training");
  end("j", "1/algo-2", exited(0));
  EXPECT_EQ(status("j"), "Completed/Completed");
  Json done = describe("j");
  EXPECT_THAT(secondaries(done),
              ElementsAre("Starting", "Downloading", "Training", "Uploading", "Completed"));
  EXPECT_EQ(base::find_path(done, "ModelArtifacts.S3ModelArtifacts")->as_string(),
            "s3://out/results/j/output/model.tar.gz");
  EXPECT_TRUE(objects_.find("out", "results/j/output/model.tar.gz"));
  EXPECT_FALSE(objects_.find("out", "results/j/output/output.tar.gz"));
  EXPECT_EQ(base::int_or(done, "BillableTimeInSeconds", 0), 90);
  EXPECT_EQ(base::int_or(done, "TrainingTimeInSeconds", 0), 90);
  EXPECT_THAT(base::metrics().page(),
              HasSubstr(R"(meridian_training_jobs_total{region="us-west-2",status="Completed"})"));
  EXPECT_FALSE(capacity_.find("training/j"));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path() / "jobs"));
}

TEST_F(RegionTest, InstancesFindWhatTheContractPromises) {
  JsonObject job = request("j", 2);
  job["HyperParameters"] = {{"lr", "0.1"}, {"name", "\"quoted\""}};
  job["Environment"] = {{"MODE", "fast"}};
  objects_.put_bytes("data", "train/a/b.csv", "1,2");
  job["InputDataConfig"] = JsonArray{JsonObject{
      {"ChannelName", "train"},
      {"ContentType", "text/csv"},
      {"DataSource",
       {{"S3DataSource", {{"S3DataType", "S3Prefix"}, {"S3Uri", "s3://data/train/"}}}}}}};
  start(job);
  auto spec = engine_.spec(instance("j", "1/algo-2"));
  EXPECT_THAT(spec.argv, ElementsAre("/bin/train"));
  EXPECT_EQ(spec.hostname, "algo-2");
  EXPECT_EQ(spec.hosts.size(), 2u);
  EXPECT_EQ(spec.environment["MODE"], "fast");
  EXPECT_EQ(spec.environment["TRAINING_JOB_NAME"], "j");
  EXPECT_EQ(spec.environment["SM_CHANNEL_TRAIN"], "/opt/ml/input/data/train");
  EXPECT_EQ(spec.environment["AWS_ENDPOINT_URL"], "http://127.0.0.1:8470");
  auto keys = identity_.find_key(spec.environment["AWS_ACCESS_KEY_ID"]);
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->principal.scope, identity::Scope::job);
  auto config = spec.directory / "ml/input/config";
  EXPECT_EQ(base::read_file(config / "hyperparameters.json"),
            R"({"lr":"0.1","name":"\"quoted\""})");
  EXPECT_EQ(base::read_file(config / "inputdataconfig.json"),
            R"({"train":{"TrainingInputMode":"File","S3DistributionType":"FullyReplicated",)"
            R"("RecordWrapperType":"None","ContentType":"text/csv"}})");
  EXPECT_THAT(
      base::read_file(config / "resourceconfig.json"),
      StartsWith(R"({"current_host":"algo-2","current_instance_type":"ml.m5.large",)"
                 R"("current_group_name":"homogeneousCluster","hosts":["algo-1","algo-2"])"));
  ASSERT_GE(spec.mounts.size(), 2u);
  EXPECT_EQ(spec.mounts[0].inside, "/opt/ml");
  EXPECT_EQ(spec.mounts[1].inside, "/opt/ml/input/data/train");
  EXPECT_EQ(spec.mounts[1].mode, run::Mount::Mode::overlay);
  EXPECT_EQ(base::read_file(spec.mounts[1].host / "a/b.csv"), "1,2");
}

struct MappedImages : RegionTest {
  MappedImages() { restart(); }
  void adjust(Settings& settings) override {
    settings.image_rules = {{"*/mapped:*", "host:/opt/venv/bin/python"}};
  }
};

TEST_F(MappedImages, TheirInterpretersDirectoryComesBeforeTheMachinesOnPath) {
  JsonObject job = request("j");
  job["AlgorithmSpecification"].as_object()["TrainingImage"] = "registry/mapped:1";
  start(job);
  start(request("plain"));
  EXPECT_THAT(engine_.spec(instance("j", "1/algo-1")).environment["PATH"],
              StartsWith("/opt/venv/bin:/usr/local/sbin:"));
  EXPECT_THAT(engine_.spec(instance("plain", "1/algo-1")).environment["PATH"],
              StartsWith("/usr/local/sbin:"));
}

TEST_F(RegionTest, AFailedRankEndsTheGangAtOnce) {
  start(request("j", 2));
  engine_.ignore_stops();
  base::write_file(ml("j", "1/algo-2") / "output/failure", "bad learning rate");
  end("j", "1/algo-2", exited(3));
  EXPECT_EQ(status("j"), "Failed/Failed");
  EXPECT_EQ(base::string_or(describe("j"), "FailureReason"),
            "AlgorithmError: bad learning rate, exit code: 3");
  EXPECT_THAT(capacity_.waiting_owners(), testing::IsEmpty());
}

TEST_F(RegionTest, AFailureWithoutAFileShowsTheLastLines) {
  start(request("j"));
  auto spec = engine_.spec(instance("j", "1/algo-1"));
  run::LogFileWriter log(spec.log_file, clock_);
  log.append("starting\nValueError: no such column\n");
  end("j", "1/algo-1", exited(1));
  EXPECT_EQ(base::string_or(describe("j"), "FailureReason"),
            "AlgorithmError: starting\nValueError: no such column, exit code: 1");
}

TEST_F(RegionTest, LinksThatAProgramLeavesBehindAreNotFollowed) {
  base::write_file(directory_.path() / "secret", "of the host");
  std::filesystem::create_directory(directory_.path() / "private");
  base::write_file(directory_.path() / "private/key", "of the host");
  start(request("j"));
  auto output = ml("j", "1/algo-1") / "output";
  std::filesystem::create_symlink(directory_.path() / "secret", output / "failure");
  std::filesystem::remove(output / "data");
  std::filesystem::create_symlink(directory_.path() / "private", output / "data");
  end("j", "1/algo-1", exited(1));
  EXPECT_EQ(base::string_or(describe("j"), "FailureReason"),
            "AlgorithmError: the program on algo-1 wrote nothing, exit code: 1");
  EXPECT_FALSE(objects_.find("out", "results/j/output/output.tar.gz"));
}

TEST_F(RegionTest, AStoppedJobGetsItsGraceAndKeepsItsModel) {
  start(request("j"));
  EXPECT_EQ(engine_.spec(instance("j", "1/algo-1")).grace, base::Duration(120'000));
  base::write_file(ml("j", "1/algo-1") / "model/weights", "w");
  engine_.ignore_stops();
  call("StopTrainingJob", {{"TrainingJobName", "j"}});
  settle();
  EXPECT_EQ(status("j"), "Stopping/Stopping");
  EXPECT_TRUE(engine_.stop_requested(instance("j", "1/algo-1")));
  end("j", "1/algo-1", run::signalled(15));
  EXPECT_EQ(status("j"), "Stopped/Stopped");
  EXPECT_TRUE(objects_.find("out", "results/j/output/model.tar.gz"));
  EXPECT_THAT(refusal("StopTrainingJob", {{"TrainingJobName", "j"}}),
              "ValidationException: The request was rejected because the training job is in status "
              "Stopped.");
}

TEST_F(RegionTest, AProgramThatOutlivesItsGraceIsKilled) {
  start(request("j"));
  engine_.ignore_stops();
  call("StopTrainingJob", {{"TrainingJobName", "j"}});
  runner_->run_for(base::Duration(200'000));
  EXPECT_EQ(status("j"), "Stopped/Stopped");
}

TEST_F(RegionTest, MaxRuntimeStopsTheJob) {
  start(request("j"));
  runner_->run_for(base::Duration(3'601'000));
  EXPECT_EQ(status("j"), "Stopped/MaxRuntimeExceeded");
  EXPECT_EQ(base::int_or(describe("j"), "BillableTimeInSeconds", 0), 3600);
}

TEST_F(RegionTest, AJumpOfTheWallClockChangesNoBill) {
  start(request("j"));
  clock_.advance(base::Duration(10'000));
  clock_.jump_wall_clock(base::Duration(86'400'000));
  end("j", "1/algo-1", exited(0));
  EXPECT_EQ(base::int_or(describe("j"), "BillableTimeInSeconds", 0), 10);
}

TEST_F(RegionTest, ResultsWaitForRoomOnAFullDisk) {
  start(request("j"));
  base::write_file(ml("j", "1/algo-1") / "model/weights", "w");
  objects_.full = true;
  end("j", "1/algo-1", exited(0));
  runner_->run_for(base::Duration(600'000));
  EXPECT_EQ(status("j"), "InProgress/Uploading");
  objects_.full = false;
  runner_->run_for(base::Duration(61'000));
  EXPECT_EQ(status("j"), "Completed/Completed");
  EXPECT_TRUE(objects_.find("out", "results/j/output/model.tar.gz"));
}

TEST_F(RegionTest, ADiskThatStaysFullEndsTheJobWithThatReason) {
  start(request("j"));
  objects_.full = true;
  end("j", "1/algo-1", exited(0));
  runner_->run_for(base::Duration(3'600'000));
  EXPECT_EQ(status("j"), "Failed/Failed");
  EXPECT_THAT(base::string_or(describe("j"), "FailureReason"),
              HasSubstr("No space left on device"));
}

TEST_F(RegionTest, AWaitingJobNamesWhoHoldsTheInstancesAndStartsWhenTheyAreFree) {
  start(request("a", 6));
  start(request("b", 4));
  EXPECT_EQ(status("b"), "InProgress/Pending");
  EXPECT_EQ(base::string_or(describe("b").at("SecondaryStatusTransitions").as_array().back(),
                            "StatusMessage"),
            "Waiting for capacity: requested 4, free 2 of 8; held by training/a (6)");
  for (int i = 1; i <= 6; ++i) end("a", "1/algo-" + std::to_string(i), exited(0));
  EXPECT_EQ(status("b"), "InProgress/Training");
}

TEST_F(RegionTest, AJobStoppedWhileItWaitsNeverStarts) {
  start(request("a", 8));
  start(request("b", 4));
  call("StopTrainingJob", {{"TrainingJobName", "b"}});
  settle();
  EXPECT_EQ(status("b"), "Stopped/Stopped");
  EXPECT_THAT(capacity_.waiting_owners(), testing::IsEmpty());
}

TEST_F(RegionTest, ALostSupervisorIsRetriedAsOftenAsTheRequestAllows) {
  JsonObject job = request("j");
  job["RetryStrategy"] = {{"MaximumRetryAttempts", 1}};
  start(job);
  end("j", "1/algo-1", run::lost());
  EXPECT_EQ(status("j"), "InProgress/Training");
  end("j", "2/algo-1", run::lost());
  EXPECT_EQ(status("j"), "Failed/Failed");
  EXPECT_THAT(
      base::string_or(describe("j"), "FailureReason"),
      StartsWith("InternalServerError: We encountered an internal error. Please try again."));
}

TEST_F(RegionTest, AnExitCodeIsNeverRetried) {
  JsonObject job = request("j");
  job["RetryStrategy"] = {{"MaximumRetryAttempts", 5}};
  start(job);
  end("j", "1/algo-1", run::signalled(9));
  EXPECT_EQ(status("j"), "Failed/Failed");
  EXPECT_THAT(base::string_or(describe("j"), "FailureReason"), HasSubstr("exit code: 137"));
}

TEST_F(RegionTest, ARestartedDaemonAdoptsWhatRunsAndStartsNothingTwice) {
  start(request("j", 2));
  auto before = engine_.ids();
  restart();
  settle();
  EXPECT_EQ(engine_.ids(), before);
  EXPECT_EQ(status("j"), "InProgress/Training");
  end("j", "1/algo-1", exited(0));
  restart();
  settle();
  end("j", "1/algo-2", exited(0));
  EXPECT_EQ(status("j"), "Completed/Completed");
}

TEST_F(RegionTest, CheckpointsAreSyncedWhileTheProgramRuns) {
  JsonObject job = request("j");
  job["CheckpointConfig"] = {{"S3Uri", "s3://out/ckpt"}, {"LocalPath", "/tmp/ckpt"}};
  start(job);
  auto spec = engine_.spec(instance("j", "1/algo-1"));
  ASSERT_EQ(spec.mounts.back().inside, "/tmp/ckpt");
  base::write_file(spec.mounts.back().host / "w", "1");
  runner_->run_for(base::Duration(61'000));
  EXPECT_EQ(objects_.text("out", "ckpt/w"), "1");
  // A directory that is made again is the one that counts.
  std::filesystem::remove_all(spec.mounts.back().host);
  base::make_directories(spec.mounts.back().host);
  base::write_file(spec.mounts.back().host / "v", "22");
  runner_->run_for(base::Duration(61'000));
  EXPECT_EQ(objects_.text("out", "ckpt/v"), "22");
  EXPECT_FALSE(objects_.find("out", "ckpt/w"));
  const Json synced = describe("j");
  EXPECT_EQ(base::find_path(synced, "Meridian.Sync.Uploaded")->to_number<int>(), 2);
}

TEST_F(RegionTest, AnImageWithoutAProgramIsAClientErrorThatListsTheWays) {
  JsonObject job = request("j");
  job["AlgorithmSpecification"] = {{"TrainingImage", "nobody/knows:1"},
                                   {"TrainingInputMode", "File"}};
  start(job);
  EXPECT_EQ(status("j"), "Failed/Failed");
  EXPECT_THAT(base::string_or(describe("j"), "FailureReason"),
              testing::AllOf(StartsWith("ClientError: "), HasSubstr("image rule"),
                             HasSubstr("ContainerEntrypoint")));
}

TEST_F(RegionTest, MissingCodeIsAClientErrorThatNamesIt) {
  JsonObject job = request("j");
  job["HyperParameters"] = {{"sagemaker_program", "train.py"},
                            {"sagemaker_submit_directory", "s3://code/none.tar.gz"}};
  start(job);
  EXPECT_THAT(base::string_or(describe("j"), "FailureReason"),
              testing::AllOf(StartsWith("ClientError: "), HasSubstr("none.tar.gz"),
                             HasSubstr("sagemaker_submit_directory")));
}

TEST_F(RegionTest, FinishedAndFailedJobsLeaveNoLeaseBehind) {
  for (int i = 0; i < 4; ++i) {
    std::string name = "j" + std::to_string(i);
    start(request(name, 8));
    end(name, "1/algo-1", exited(i % 2));
    for (int host = 2; host <= 8 && i % 2 == 0; ++host)
      end(name, "1/algo-" + std::to_string(host), exited(0));
    EXPECT_THAT(status(name), testing::AnyOf("Completed/Completed", "Failed/Failed"));
  }
  const Json snapshot = capacity_.snapshot();
  EXPECT_EQ(base::find_path(snapshot, "pools")->at(0).at("used").to_number<int>(), 0);
}

TEST_F(RegionTest, AScriptIsLaunchedWithItsEnvironment) {
  JsonObject job = request("j", 2);
  job["AlgorithmSpecification"] = {
      {"TrainingImage", "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.1-cpu"},
      {"TrainingInputMode", "File"}};
  job["HyperParameters"] = {{"sagemaker_program", "\"train.py\""}, {"lr", "0.1"}};
  start(job);
  auto spec = engine_.spec(instance("j", "1/algo-2"));
  EXPECT_EQ(spec.environment["SM_USER_ENTRY_POINT"], "train.py");
  EXPECT_EQ(spec.environment["SM_HP_LR"], "0.1");
  EXPECT_EQ(spec.environment["SM_HOSTS"], R"(["algo-1","algo-2"])");
  EXPECT_THAT(base::string_or(describe("j").at("SecondaryStatusTransitions").as_array().back(),
                              "StatusMessage"),
              HasSubstr("known family PyTorch"));
}

TEST_F(RegionTest, AFamilyWhoseFrameworkIsMissingNamesThePackage) {
  JsonObject job = request("j");
  job["AlgorithmSpecification"] = {{"TrainingImage", "tensorflow-training:2.13"},
                                   {"TrainingInputMode", "File"}};
  job["HyperParameters"] = {{"sagemaker_program", "train.py"}};
  start(job);
  EXPECT_THAT(base::string_or(describe("j"), "FailureReason"),
              testing::AllOf(StartsWith("ClientError: "), HasSubstr("can't import tensorflow")));
}

TEST_F(RegionTest, InstanceGroupsAreNumberedAcrossGroupsAndChannelsKeepToTheirs) {
  JsonObject job = request("j");
  job["ResourceConfig"] = {{"VolumeSizeInGB", 1},
                           {"InstanceGroups", JsonArray{JsonObject{{"InstanceGroupName", "a"},
                                                                   {"InstanceType", "ml.m5.large"},
                                                                   {"InstanceCount", 1}},
                                                        JsonObject{{"InstanceGroupName", "b"},
                                                                   {"InstanceType", "ml.c5.xlarge"},
                                                                   {"InstanceCount", 2}}}}};
  objects_.put_bytes("data", "x", "1");
  job["InputDataConfig"] = JsonArray{JsonObject{{"ChannelName", "only-b"},
                                                {"DataSource",
                                                 {{"S3DataSource",
                                                   {{"S3DataType", "S3Prefix"},
                                                    {"S3Uri", "s3://data/x"},
                                                    {"InstanceGroupNames", JsonArray{"b"}}}}}}}};
  start(job);
  EXPECT_EQ(engine_.ids().size(), 3u);
  auto first = engine_.spec(instance("j", "1/algo-1"));
  auto last = engine_.spec(instance("j", "1/algo-3"));
  EXPECT_EQ(first.environment["SM_CURRENT_INSTANCE_GROUP"], "a");
  EXPECT_EQ(last.environment["SM_CURRENT_INSTANCE_GROUP"], "b");
  EXPECT_EQ(last.environment["SM_CURRENT_INSTANCE_TYPE"], "ml.c5.xlarge");
  EXPECT_EQ(first.mounts.size() + 1, last.mounts.size());
}

TEST_F(RegionTest, AFileSystemChannelIsMountedNotCopied) {
  JsonObject job = request("j");
  job["InputDataConfig"] = JsonArray{JsonObject{{"ChannelName", "fs"},
                                                {"DataSource",
                                                 {{"FileSystemDataSource",
                                                   {{"FileSystemId", "fs-1"},
                                                    {"FileSystemType", "EFS"},
                                                    {"DirectoryPath", "/sets/../../a"},
                                                    {"FileSystemAccessMode", "ro"}}}}}}};
  base::make_directories(directory_.path() / "fs/a");
  start(job);
  auto mount = engine_.spec(instance("j", "1/algo-1")).mounts.back();
  EXPECT_EQ(mount.host, directory_.path() / "fs/a");
  EXPECT_EQ(mount.inside, "/opt/ml/input/data/fs");
  EXPECT_EQ(mount.mode, run::Mount::Mode::read_only);
}

TEST_F(RegionTest, WarmInstancesAreTakenOverByAJobLikeItAndGivenBackInTime) {
  auto warm = [](const std::string& name) {
    JsonObject job = request(name, 8);
    job["ResourceConfig"].as_object()["KeepAlivePeriodInSeconds"] = 600;
    return job;
  };
  auto complete = [&](const std::string& name) {
    for (int host = 1; host <= 8; ++host) end(name, "1/algo-" + std::to_string(host), exited(0));
  };
  auto pool_status = [&](const std::string& name) {
    const Json job = describe(name);
    return base::string_or(*base::find_path(job, "WarmPoolStatus"), "Status");
  };
  start(warm("a"));
  complete("a");
  EXPECT_EQ(pool_status("a"), "Available");
  start(request("other", 1));
  EXPECT_EQ(status("other"), "InProgress/Pending");
  call("StopTrainingJob", {{"TrainingJobName", "other"}});
  clock_.advance(base::Duration(5'000));
  start(warm("b"));
  EXPECT_EQ(status("b"), "InProgress/Training");
  EXPECT_EQ(pool_status("a"), "Reused");
  const Json reused = describe("a");
  EXPECT_EQ(base::find_path(reused, "WarmPoolStatus.ReusedByJob")->as_string(), "b");
  complete("b");
  restart();
  runner_->run_for(base::Duration(601'000));
  EXPECT_EQ(pool_status("b"), "Terminated");
  EXPECT_FALSE(capacity_.find("warm/b"));
}

TEST_F(RegionTest, TheRunRecordNamesWhatTheJobWasMadeFrom) {
  JsonObject job = request("j");
  job["HyperParameters"] = {{"random_seed", "7"}};
  objects_.put_bytes("data", "x", "123");
  job["InputDataConfig"] = JsonArray{JsonObject{
      {"ChannelName", "train"},
      {"DataSource", {{"S3DataSource", {{"S3DataType", "S3Prefix"}, {"S3Uri", "s3://data/x"}}}}}}};
  start(job);
  Json record = region_->meridian_calls().at("run-record")({}, {{"job", "j"}});
  EXPECT_EQ(base::find_path(record, "Inputs.train.Bytes")->to_number<int>(), 3);
  EXPECT_EQ(base::find_path(record, "Seeds.random_seed")->as_string(), "7");
  EXPECT_EQ(base::string_or(record, "Image"), "host");
}

}  // namespace
}  // namespace meridian::region::training
