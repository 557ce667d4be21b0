// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "s3/fake_objects.h"
#include "s3/staging.h"

namespace meridian::s3 {
namespace {

namespace fs = std::filesystem;

class Checkpoints : public testing::Test {
 protected:
  DirectorySync new_sync() { return {own_.store, root_, "data", "job/checkpoints"}; }
  void write(const std::string& path, const std::string& text) {
    base::make_directories((root_ / path).parent_path());
    base::write_file(root_ / path, text);
  }
  std::vector<std::string> keys() {
    std::vector<std::string> all;
    for_each_object(own_.store, "data", "", [&](const ObjectInfo& o) { all.push_back(o.key); });
    return all;
  }

  TestObjects own_;
  base::TempDir directory_{"sync"};
  fs::path root_ = directory_.path() / "checkpoints";
};

TEST_F(Checkpoints, NewAndChangedFilesGoUpOnce) {
  auto sync = new_sync();
  write("a", "1");
  write("deep/b", "2");
  EXPECT_EQ(sync.upload_changes({}).uploaded, 2u);
  EXPECT_EQ(sync.upload_changes({}).uploaded, 0u);
  write("a", "changed");
  EXPECT_EQ(sync.upload_changes({}).uploaded, 1u);
  EXPECT_EQ(contents(own_.store, "data", "job/checkpoints/a"), "changed");
  EXPECT_EQ(contents(own_.store, "data", "job/checkpoints/deep/b"), "2");
}

TEST_F(Checkpoints, WhatIsDeletedHereIsDeletedThere) {
  auto sync = new_sync();
  write("a", "1");
  write("b", "2");
  sync.upload_changes({});
  own_.store.put_bytes("data", "job/checkpoints/of-another-host", "x");
  fs::remove(root_ / "a");
  EXPECT_EQ(sync.upload_changes({}).removed, 1u);
  EXPECT_THAT(keys(), testing::ElementsAre("job/checkpoints/b", "job/checkpoints/of-another-host"));
}

TEST_F(Checkpoints, WhatIsThereComesDownBeforeTheStart) {
  own_.store.put_bytes("data", "job/checkpoints/", "");
  own_.store.put_bytes("data", "job/checkpoints/deep/a", "1");
  own_.store.put_bytes("data", "job/checkpoints-of-others/b", "2");
  own_.store.put_bytes("data", "job/checkpoints/../../evil", "3");
  new_sync().download({});
  EXPECT_EQ(base::read_file(root_ / "deep/a"), "1");
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(root_), {}), 2);
}

TEST_F(Checkpoints, ADownloadedFileMayBeWrittenWithoutTouchingTheObject) {
  own_.store.put_bytes("data", "job/checkpoints/a", "from the store");
  auto sync = new_sync();
  sync.download({});
  EXPECT_EQ(sync.upload_changes({}).uploaded, 0u);
  std::FILE* file = std::fopen((root_ / "a").c_str(), "r+");
  ASSERT_NE(file, nullptr);
  std::fputs("FROM", file);
  std::fclose(file);
  EXPECT_EQ(contents(own_.store, "data", "job/checkpoints/a"), "from the store");
  EXPECT_EQ(sync.upload_changes({}).uploaded, 1u);
  EXPECT_EQ(contents(own_.store, "data", "job/checkpoints/a"), "FROM the store");
}

TEST_F(Checkpoints, ANewSyncOfTheSameDirectorySendsNothingAgain) {
  write("a", "1");
  new_sync().upload_changes({});
  auto after_restart = new_sync();
  EXPECT_EQ(after_restart.upload_changes({}).uploaded, 0u);
  fs::remove(root_ / "a");
  EXPECT_EQ(after_restart.upload_changes({}).removed, 1u);
}

TEST_F(Checkpoints, LinksOutAndPipesStayHere) {
  base::write_file(directory_.path() / "secret", "secret");
  write("a", "1");
  fs::create_symlink("../secret", root_ / "leak");
  fs::create_symlink("/etc/passwd", root_ / "passwd");
  ::mkfifo((root_ / "pipe").c_str(), 0600);
  new_sync().upload_changes({});
  EXPECT_THAT(keys(), testing::ElementsAre("job/checkpoints/a"));
}

TEST_F(Checkpoints, AnAbsentDirectoryHasNoChanges) {
  EXPECT_EQ(new_sync().upload_changes({}).uploaded, 0u);
}

}  // namespace
}  // namespace meridian::s3
