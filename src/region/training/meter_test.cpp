// SPDX-License-Identifier: Apache-2.0
#include "region/training/meter.h"

#include "region/training/fixture.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
namespace fs = std::filesystem;

TEST(MeasuredDirectory, IsTheBlocksOfItsFilesWithoutFollowingLinks) {
  const base::TempDir directory;
  EXPECT_EQ(measure_directory(directory.path() / "none", {}), 0u);
  base::make_directories(directory.path() / "tree/sub");
  const auto empty = measure_directory(directory.path() / "tree", {});
  base::write_file(directory.path() / "tree/sub/file", std::string(100'000, 'x'));
  const auto full = measure_directory(directory.path() / "tree", {});
  EXPECT_GE(full - empty, 100'000u);
  EXPECT_LT(full - empty, 200'000u);
  base::write_file(directory.path() / "outside", std::string(1'000'000, 'x'));
  fs::create_symlink(directory.path() / "outside", directory.path() / "tree/link");
  EXPECT_LT(measure_directory(directory.path() / "tree", {}), full + 100'000);
}

class Metered : public RegionTest {
 protected:
  using RegionTest::RegionTest;
  // The latest value of a host metric; nothing when there is none.
  std::optional<double> latest(const std::string& metric, const std::string& host) {
    const auto cloudwatch = telemetry_->cloudwatch_service();
    const Json answer =
        cloudwatch.operations.find("GetMetricStatistics")
            ->second({}, {{"Namespace", "/aws/sagemaker/TrainingJobs"},
                          {"MetricName", metric},
                          {"Dimensions", JsonArray{JsonObject{{"Name", "Host"}, {"Value", host}}}},
                          {"StartTime", clock_.now().seconds() - 3000},
                          {"EndTime", clock_.now().seconds() + 3000},
                          {"Period", 6000},
                          {"Statistics", JsonArray{"Maximum"}}});
    const auto& points = answer.at("Datapoints").as_array();
    if (points.empty()) return std::nullopt;
    return base::double_or(points.front(), "Maximum", -1);
  }
  void pass(int seconds) {
    clock_.advance(base::Duration(seconds * 1000));
    settle();
  }
};

TEST_F(Metered, DiskIsWhatTheInstanceWroteOfItsVolume) {
  JsonObject job = request("j");
  job["ResourceConfig"].as_object()["VolumeSizeInGB"] = 1;
  start(job);
  base::write_file(ml("j", "1/algo-1") / "model/weights", std::string(11 << 20, 'x'));
  pass(61);
  const auto disk = latest("DiskUtilization", "j/algo-1");
  ASSERT_TRUE(disk.has_value());
  EXPECT_NEAR(*disk, 1.1, 0.1);  // 11 MiB of 1 GiB
}

TEST_F(Metered, ChannelsInFileModeCountOnTheVolume) {
  JsonObject job = request("j");
  job["ResourceConfig"].as_object()["VolumeSizeInGB"] = 1;
  objects_.put_bytes("data", "train/a", std::string(11 << 20, 'x'));
  job["InputDataConfig"] = JsonArray{JsonObject{
      {"ChannelName", "train"},
      {"DataSource",
       {{"S3DataSource", {{"S3DataType", "S3Prefix"}, {"S3Uri", "s3://data/train/"}}}}}}};
  start(job);
  pass(61);
  EXPECT_NEAR(latest("DiskUtilization", "j/algo-1").value_or(-1), 1.1, 0.1);
}

TEST_F(Metered, AShortJobIsMeasuredAtItsEnd) {
  start(request("j"));
  base::write_file(ml("j", "1/algo-1") / "model/weights", std::string(11 << 20, 'x'));
  pass(10);
  EXPECT_EQ(latest("DiskUtilization", "j/algo-1"), std::nullopt);
  end("j", "1/algo-1", run::exited(0));
  EXPECT_GT(latest("DiskUtilization", "j/algo-1").value_or(-1), 0.1);
}

class MeteredGpus : public Metered {
 protected:
  MeteredGpus() : Metered({{.name = "gpu", .types = {"ml.p3.8xlarge"}, .count = 2, .gpus = 2}}) {}
  JsonObject gpu_job() {
    JsonObject job = request("j", 2);
    job["ResourceConfig"].as_object()["InstanceType"] = "ml.p3.8xlarge";
    return job;
  }
};

TEST_F(MeteredGpus, EachHostHasTheSumOverItsOwnDevices) {
  engine_.set_gpus({{0, 10, 1}, {1, 20, 2}, {2, 30, 3}, {3, 40, std::nullopt}});
  start(gpu_job());
  EXPECT_EQ(latest("GPUUtilization", "j/algo-1"), 30);
  EXPECT_EQ(latest("GPUMemoryUtilization", "j/algo-1"), 3);
  EXPECT_EQ(latest("GPUUtilization", "j/algo-2"), 70);
  EXPECT_EQ(latest("GPUMemoryUtilization", "j/algo-2"), 3);
}

TEST_F(MeteredGpus, WithoutASampleThereIsNoFigure) {
  start(gpu_job());
  EXPECT_EQ(latest("GPUUtilization", "j/algo-1"), std::nullopt);
}

TEST_F(Metered, AJobWithoutGpusHasNoFigureWhateverTheMachineHas) {
  engine_.set_gpus({{0, 10, 1}});
  start(request("j"));
  EXPECT_EQ(latest("GPUUtilization", "j/algo-1"), std::nullopt);
}

}  // namespace
}  // namespace meridian::region::training
