// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "base/error.h"

namespace meridian::base {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  TempDir directory;
  fs::path path = directory.path() / "f";
};

Code code_of(auto work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no Error";
  return Code::internal;
}

TEST_F(FileTest, WhatIsWrittenIsRead) {
  const std::string contents(200'000, 'x');
  for (const auto durability : {Durability::none, Durability::synced}) {
    write_file(path, contents, durability, 0600);
    EXPECT_EQ(read_file(path), contents);
  }
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(FileTest, AReaderSeesTheOldContentsOrTheNew) {
  write_file(path, std::string(10'000, 'a'));
  std::atomic<int> mixtures = 0;
  std::jthread reader([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      const std::string seen = read_file(path);
      if (seen.size() != 10'000 || seen.front() != seen.back()) ++mixtures;
    }
  });
  for (int i = 0; i < 100; ++i) write_file(path, std::string(10'000, i % 2 ? 'a' : 'b'));
  reader.request_stop();
  reader.join();
  EXPECT_EQ(mixtures, 0);
}

TEST_F(FileTest, AFailedWriteLeavesNothingBehind) {
  fs::create_directory(path);
  EXPECT_THROW(write_file(path, "x"), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()), 1);
}

TEST_F(FileTest, FailuresNameThePathAndCarryACode) {
  EXPECT_EQ(code_of([&] { read_file(path); }), Code::not_found);
  EXPECT_EQ(code_of([&] { write_file(path / "g", "x"); }), Code::not_found);
  EXPECT_EQ(code_of([&] { open_file("/proc/self/no", O_WRONLY | O_CREAT); }), Code::not_found);
  try {
    read_file(path);
  } catch (const Error& error) {
    EXPECT_NE(error.message().find(path.string()), std::string::npos);
  }
}

TEST_F(FileTest, ReadingIfThereIsBounded) {
  EXPECT_EQ(read_file_if_exists(path), "");
  write_file(path, "0123456789");
  EXPECT_EQ(read_file_if_exists(path), "0123456789");
  EXPECT_EQ(read_file_if_exists(path, 4), "0123");
  EXPECT_FALSE(read_file("/proc/self/status").empty());  // a file that says it has no size
}

TEST_F(FileTest, DescriptorsAreOwned) {
  int raw = -1;
  {
    UniqueFd fd = open_file(path, O_CREAT | O_RDWR);
    raw = fd.get();
    EXPECT_NE(fcntl(raw, F_GETFD) & FD_CLOEXEC, 0);
    UniqueFd moved = std::move(fd);
    EXPECT_FALSE(fd);  // NOLINT: the state after a move is part of the promise
    EXPECT_EQ(moved.get(), raw);
    UniqueFd& same = moved;
    moved = std::move(same);
    EXPECT_TRUE(moved);
  }
  EXPECT_EQ(fcntl(raw, F_GETFD), -1);
}

TEST_F(FileTest, DirectoriesAreMadeWithTheirParents) {
  make_directories(path / "a/b/c");
  make_directories(path / "a/b/c");
  EXPECT_TRUE(fs::is_directory(path / "a/b/c"));
  write_file(path / "file", "");
  EXPECT_THROW(make_directories(path / "file/x"), Error);
  sync_directory(path);
}

TEST_F(FileTest, RemovingATreeDoesNotFollowLinks) {
  make_directories(path / "keep");
  write_file(path / "keep/me", "x");
  make_directories(path / "gone/deep");
  fs::create_directory_symlink(path / "keep", path / "gone/link");
  remove_tree(path / "gone");
  EXPECT_FALSE(fs::exists(path / "gone"));
  EXPECT_TRUE(fs::exists(path / "keep/me"));
  remove_tree(path / "gone");
}

TEST_F(FileTest, WritingToAClosedPipeIsAnError) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd writing(ends[1]);
  close(ends[0]);
  signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(code_of([&] { write_all(writing.get(), "x"); }), Code::unavailable);
  signal(SIGPIPE, SIG_DFL);
}

TEST(TempDir, IsRemovedWithItsContents) {
  fs::path where;
  {
    const TempDir directory("x");
    where = directory.path();
    make_directories(where / "a/b");
    write_file(where / "a/b/c", "x");
  }
  EXPECT_FALSE(fs::exists(where));
}

}  // namespace
}  // namespace meridian::base
