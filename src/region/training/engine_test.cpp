// The same region over real instances: threads, a file store, meridian-init. Skipped, with its
// reason, where that program was not built beside this test.
//
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "region/training/fixture.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::HasSubstr;

std::filesystem::path init_program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "meridian-init";
}

class RealRegionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(init_program()))
      GTEST_SKIP() << init_program() << " was not built; build the target meridian-init";
    start();
  }
  void TearDown() override { stop(); }

  // A daemon's parts, in the order of their needs.
  struct Daemon {
    Daemon(const std::filesystem::path& data, const base::Clock& clock, s3::Objects& objects)
        : store(store::open_sqlite({.path = data / "jobs.db"})),
          identity(*store, clock, random),
          engine(run::make_local_engine(
              clock, {.init_program = init_program(), .state_directory = data / "engine"})),
          telemetry(*store, clock, {"000000000000", "us-west-2", data / "logs"}),
          capacity(*store, clock, "000000000000/us-west-2", {{.name = "default", .count = 8}}),
          runner(clock, steps),
          activities(std::make_unique<control::ThreadActivities>(runner)),
          region(Parts{*store, clock, random, identity, objects, *engine, telemetry, capacity,
                       runner, *activities},
                 settings(data)) {
      region.register_steps(steps);
      engine->on_change([this](const std::string& id) { region.instance_changed(id); });
      region.resume();
    }
    // Steps and activities use the region: they end before it does.
    ~Daemon() {
      engine->on_change({});
      runner.stop();
      activities.reset();
    }
    static Settings settings(const std::filesystem::path& data) {
      Settings settings;
      settings.directory = data;
      settings.grace = base::Duration(500);
      settings.probe = fake_probe();
      return settings;
    }
    base::SystemRandom random;
    std::unique_ptr<store::Store> store;
    identity::Identity identity;
    std::unique_ptr<run::Engine> engine;
    telemetry::Telemetry telemetry;
    capacity::Capacity capacity;
    control::StepTable steps;
    control::ThreadRunner runner;
    std::unique_ptr<control::ThreadActivities> activities;
    TrainingRegion region;
  };
  void start() { daemon_ = std::make_unique<Daemon>(directory_.path(), clock_, objects_); }
  void stop() { daemon_.reset(); }

  Json call(const char* operation, const JsonObject& input) {
    return daemon_->region.service().operations.find(operation)->second({}, input);
  }
  void create(const std::string& name, const std::string& shell, int instances = 1) {
    call("CreateTrainingJob",
         {{"TrainingJobName", name},
          {"RoleArn", "arn:aws:iam::000000000000:role/trainer"},
          {"AlgorithmSpecification",
           {{"TrainingImage", "host"},
            {"TrainingInputMode", "File"},
            {"ContainerEntrypoint", JsonArray{"/bin/sh", "-c", Json(shell)}}}},
          {"OutputDataConfig", {{"S3OutputPath", "s3://out/r"}}},
          {"ResourceConfig",
           {{"InstanceType", "ml.m5.large"}, {"InstanceCount", instances}, {"VolumeSizeInGB", 1}}},
          {"StoppingCondition", {{"MaxRuntimeInSeconds", 60}}}});
  }
  // The description once `done` holds of it; whatever it is after 30 s.
  template <class Done>
  Json wait_until(const std::string& name, Done done) {
    for (int look = 0;; ++look) {
      Json job = call("DescribeTrainingJob", {{"TrainingJobName", name}});
      if (done(job) || look == 3000) return job;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  Json wait_end(const std::string& name) {
    return wait_until(name, [](const Json& job) { return base::find(job, "TrainingEndTime"); });
  }
  void wait_running(const std::string& name) {
    wait_until(name, [](const Json& job) {
      const Json* instances = base::find_path(job, "Meridian.Instances");
      return !instances->as_array().empty() &&
             base::string_or(instances->as_array().front(), "Phase") == "running";
    });
  }
  static std::string status(const Json& job) { return base::string_or(job, "TrainingJobStatus"); }

  base::TempDir directory_;
  base::SystemClock clock_;
  MemoryObjects objects_;
  std::unique_ptr<Daemon> daemon_;
};

TEST_F(RealRegionTest, AGangWritesItsModelAndCompletes) {
  create("j", "echo $SM_CURRENT_HOST > /opt/ml/model/$(hostname)", 2);
  Json job = wait_end("j");
  EXPECT_EQ(status(job), "Completed") << base::to_text(job);
  EXPECT_TRUE(objects_.find("out", "r/j/output/model.tar.gz"));
}

TEST_F(RealRegionTest, AnExitCodeAndTheLastLinesReachTheReason) {
  create("j", "echo going; echo 'no such column' >&2; exit 3");
  Json job = wait_end("j");
  EXPECT_EQ(status(job), "Failed");
  EXPECT_THAT(base::string_or(job, "FailureReason"),
              testing::AllOf(HasSubstr("no such column"), HasSubstr("exit code: 3")));
}

TEST_F(RealRegionTest, OneRanksFailureEndsARankThatWouldSleepForever) {
  create("j", "[ $SM_CURRENT_HOST = algo-2 ] && exit 1; trap '' TERM; sleep 1000", 2);
  Json job = wait_end("j");
  EXPECT_EQ(status(job), "Failed");
  EXPECT_THAT(base::string_or(job, "FailureReason"), HasSubstr("exit code: 1"));
}

TEST_F(RealRegionTest, AProgramThatIgnoresTheStopIsKilledAfterTheGrace) {
  create("j", "trap '' TERM; while :; do sleep 0.1; done");
  wait_running("j");
  call("StopTrainingJob", {{"TrainingJobName", "j"}});
  EXPECT_EQ(status(wait_end("j")), "Stopped");
}

TEST_F(RealRegionTest, ARestartedDaemonGoesOnWithTheSameProgram) {
  create("j",
         "echo once >> /opt/ml/model/starts; while [ ! -e /opt/ml/model/go ]; do sleep 0.05; "
         "done; exit 0");
  wait_running("j");
  stop();
  start();
  wait_running("j");
  std::filesystem::path jobs = directory_.path() / "jobs";
  auto job = std::filesystem::directory_iterator(jobs)->path() / "1/algo-1/ml/model";
  EXPECT_EQ(base::read_file(job / "starts"), "once\n");
  base::write_file(job / "go", "");
  EXPECT_EQ(status(wait_end("j")), "Completed");
}

TEST_F(RealRegionTest, APipeChannelIsReadByTheProgram) {
  objects_.put_bytes("data", "p/a", "first");
  objects_.put_bytes("data", "p/b", "second");
  JsonObject channel{
      {"ChannelName", "train"},
      {"InputMode", "Pipe"},
      {"DataSource", {{"S3DataSource", {{"S3DataType", "S3Prefix"}, {"S3Uri", "s3://data/p/"}}}}}};
  call("CreateTrainingJob",
       {{"TrainingJobName", "j"},
        {"RoleArn", "arn:aws:iam::000000000000:role/trainer"},
        {"AlgorithmSpecification",
         {{"TrainingImage", "host"},
          {"TrainingInputMode", "Pipe"},
          {"ContainerEntrypoint",
           JsonArray{"/bin/sh", "-c",
                     "cat /opt/ml/input/data/train_0 /opt/ml/input/data/train_1 > "
                     "/opt/ml/model/read; grep -q firstsecondfirstsecond /opt/ml/model/read"}}}},
        {"InputDataConfig", JsonArray{channel}},
        {"OutputDataConfig", {{"S3OutputPath", "s3://out/r"}, {"CompressionType", "NONE"}}},
        {"ResourceConfig",
         {{"InstanceType", "ml.m5.large"}, {"InstanceCount", 1}, {"VolumeSizeInGB", 1}}},
        {"StoppingCondition", {{"MaxRuntimeInSeconds", 60}}}});
  Json job = wait_end("j");
  EXPECT_EQ(status(job), "Completed") << base::to_text(job);
  EXPECT_EQ(objects_.text("out", "r/j/output/model/read"), "firstsecondfirstsecond");
  EXPECT_EQ(base::find_path(job, "ModelArtifacts.S3ModelArtifacts")->as_string(),
            "s3://out/r/j/output/model/");
}

}  // namespace
}  // namespace meridian::region::training
