// SPDX-License-Identifier: Apache-2.0
#include "region/training/fast_file.h"

#include "region/training/fixture.h"
#include "run/file_tree.h"
#include "s3/fake_objects.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::ElementsAre;
using testing::HasSubstr;

class FastFile : public testing::Test {
 protected:
  FastFile() {
    for (const char* key : {"train/a", "train/sub/b", "training/c", "one.csv", "one.csv.bak"})
      objects_.put_bytes("data", key, key);
  }
  std::vector<std::string> shown(const std::string& uri) {
    const auto source = require_folder(objects_, {.uri = uri});
    auto channel = s3::list_channel(objects_, source);
    keep_named_object(channel, source);
    std::vector<std::string> paths;
    for (const auto& object : channel) paths.push_back(object.relative_path);
    return paths;
  }
  base::ManualClock clock_;
  s3::FakeObjects objects_{clock_};
};

TEST_F(FastFile, AFolderIsShownWithAndWithoutItsSlash) {
  EXPECT_THAT(shown("s3://data/train/"), ElementsAre("a", "sub/b"));
  EXPECT_THAT(shown("s3://data/train"), ElementsAre("a", "sub/b"));
}

TEST_F(FastFile, AnObjectIsShownAloneWhateverElseBeginsLikeIt) {
  EXPECT_THAT(shown("s3://data/one.csv"), ElementsAre("one.csv"));
}

TEST_F(FastFile, ATextThatKeysOnlyBeginWithIsRefusedWithTheRule) {
  try {
    shown("s3://data/tra");
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("'s3://data/tra' is neither"));
    EXPECT_THAT(error.what(), HasSubstr("'train/a'"));
  }
}

TEST_F(FastFile, APrefixWithoutObjectsIsToldAsInOtherModes) {
  EXPECT_THROW(shown("s3://data/none"), base::Error);
}

class FastFileJob : public RegionTest {
 protected:
  JsonObject job(const std::string& uri) {
    JsonObject job = request("j");
    job["InputDataConfig"] = JsonArray{JsonObject{
        {"ChannelName", "train"},
        {"InputMode", "FastFile"},
        {"DataSource", {{"S3DataSource", {{"S3DataType", "S3Prefix"}, {"S3Uri", uri}}}}}}};
    return job;
  }
  std::string message_of(std::string_view secondary) {
    const Json job = describe("j");
    for (const Json& each : job.at("SecondaryStatusTransitions").as_array())
      if (base::string_or(each, "Status") == secondary)
        return base::string_or(each, "StatusMessage");
    return "";
  }
};

TEST_F(FastFileJob, IsMountedFromItsIndexAndNothingIsCopied) {
  engine_.allow_files();
  objects_.keep_in(directory_.path() / "objects");
  objects_.put_bytes("data", "train/a/b.csv", "1,2");
  start(job("s3://data/train"));
  const auto mounts = engine_.spec(instance("j", "1/algo-1")).mounts;
  ASSERT_GE(mounts.size(), 2u);
  EXPECT_EQ(mounts[1].inside, "/opt/ml/input/data/train");
  EXPECT_EQ(mounts[1].mode, run::Mount::Mode::on_demand);
  const auto tree = run::FileTree::parse(base::read_file(mounts[1].host));
  ASSERT_TRUE(tree.ok());
  const auto a = tree->find_child(*tree->find(run::FileTree::kRoot), "a");
  ASSERT_TRUE(a.has_value());
  EXPECT_TRUE(tree->find_child(*tree->find(*a), "b.csv").has_value());
  EXPECT_EQ(tree->byte_count(), 3u);
  EXPECT_EQ(message_of("Downloading"), "Downloading input data");
  EXPECT_FALSE(std::filesystem::exists(mounts[1].host.parent_path() / "all"));
}

TEST_F(FastFileJob, IsStagedAsFileWithTheReasonInItsTransitions) {
  objects_.keep_in(directory_.path() / "objects");
  objects_.put_bytes("data", "train/a.csv", "1,2");
  start(job("s3://data/train/"));
  EXPECT_EQ(engine_.spec(instance("j", "1/algo-1")).mounts[1].mode, run::Mount::Mode::overlay);
  EXPECT_THAT(
      message_of("Downloading"),
      HasSubstr("channel 'train': InputMode FastFile is staged as File: instances in memory "
                "have no file systems"));
}

TEST_F(FastFileJob, ObjectsOfAnotherMachineAreStagedAsFile) {
  engine_.allow_files();
  objects_.put_bytes("data", "train/a.csv", "1,2");
  start(job("s3://data/train/"));
  EXPECT_EQ(engine_.spec(instance("j", "1/algo-1")).mounts[1].mode, run::Mount::Mode::overlay);
  EXPECT_THAT(message_of("Downloading"), HasSubstr("do not lie on this machine"));
}

TEST_F(FastFileJob, APrefixThatIsNoFolderIsTheRequestsFault) {
  objects_.put_bytes("data", "train/a.csv", "1,2");
  call("CreateTrainingJob", job("s3://data/tra"));
  settle();
  EXPECT_EQ(status("j"), "Failed/Failed");
  EXPECT_THAT(base::string_or(describe("j"), "FailureReason"),
              HasSubstr("InputMode FastFile needs a folder or one object"));
}

}  // namespace
}  // namespace meridian::region::training
