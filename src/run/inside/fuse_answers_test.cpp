// The kernel's side played by hand; real mounts are in file_server_test.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include "run/inside/fuse_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sys/stat.h>

#include <cstring>

#include "base/file.h"

namespace meridian::run {
namespace {

using testing::ElementsAre;

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

class FuseAnswersTest : public testing::Test {
 protected:
  FuseAnswersTest() : tree_(make_tree()), answers_(tree_, {7, 8}) {}

  FileTree make_tree() {
    base::write_file(work_.path() / "object", "0123456789");
    write_file_index(work_.path() / "index", {{"a.txt", {5'250}, {{work_.path() / "object", 10}}},
                                              {"sub/b", {1'000}, {{work_.path() / "missing", 3}}}});
    return *FileTree::parse(base::read_file(work_.path() / "index"));
  }

  struct Answer {
    int error = 0;
    std::string body;
    template <class T>
    T as() const {
      T value{};
      EXPECT_EQ(body.size(), sizeof value);
      std::memcpy(&value, body.data(), std::min(body.size(), sizeof value));
      return value;
    }
  };
  Answer ask(std::uint32_t opcode, std::uint64_t node, const std::string& body = "") const {
    fuse_in_header header{};
    header.len = static_cast<std::uint32_t>(sizeof header + body.size());
    header.opcode = opcode;
    header.unique = 99;
    header.nodeid = node;
    const std::string request = bytes_of(header) + body;
    std::string reply(FuseAnswers::kReplyBytes, '\0');
    reply.resize(answers_.answer(request, reply));
    fuse_out_header out{};
    if (reply.size() < sizeof out) return {-1, ""};
    std::memcpy(&out, reply.data(), sizeof out);
    EXPECT_EQ(out.unique, 99u);
    EXPECT_EQ(out.len, reply.size());
    return {-out.error, reply.substr(sizeof out)};
  }
  std::uint64_t look_up(std::uint64_t node, const std::string& name) const {
    return ask(FUSE_LOOKUP, node, name + '\0').as<fuse_entry_out>().nodeid;
  }
  static std::string range(std::uint64_t offset, std::uint32_t size) {
    fuse_read_in in{};
    in.offset = offset;
    in.size = size;
    return bytes_of(in);
  }

  base::TempDir work_;
  FileTree tree_;
  FuseAnswers answers_;
};

TEST_F(FuseAnswersTest, TakesOnlyWhatTheKernelOffers) {
  fuse_init_in offer{};
  offer.major = 7;
  offer.minor = 99;
  offer.max_readahead = 131072;
  offer.flags = FUSE_ASYNC_READ | FUSE_MAX_PAGES | FUSE_POSIX_LOCKS;
  const auto out = ask(FUSE_INIT, 0, bytes_of(offer)).as<fuse_init_out>();
  EXPECT_EQ(out.major, 7u);
  EXPECT_LE(out.minor, std::uint32_t{FUSE_KERNEL_MINOR_VERSION});
  EXPECT_EQ(out.flags, std::uint32_t{FUSE_ASYNC_READ | FUSE_MAX_PAGES});
  EXPECT_EQ(out.max_readahead, 131072u);
  EXPECT_EQ(out.max_pages * 4096u, FuseAnswers::kMaxRead);
}

TEST_F(FuseAnswersTest, AnOldKernelIsRefused) {
  fuse_init_in offer{};
  offer.major = 6;
  EXPECT_EQ(ask(FUSE_INIT, 0, bytes_of(offer)).error, EPROTO);
}

TEST_F(FuseAnswersTest, ANameHasItsAttributes) {
  const auto entry = ask(FUSE_LOOKUP, 1, std::string("a.txt\0", 6)).as<fuse_entry_out>();
  EXPECT_EQ(entry.attr.size, 10u);
  EXPECT_EQ(entry.attr.mode, std::uint32_t{S_IFREG | 0444});
  EXPECT_EQ(entry.attr.uid, 7u);
  EXPECT_EQ(entry.attr.gid, 8u);
  EXPECT_EQ(entry.attr.mtime, 5u);
  EXPECT_EQ(entry.attr.mtimensec, 250'000'000u);
  const auto again = ask(FUSE_GETATTR, entry.nodeid).as<fuse_attr_out>();
  EXPECT_EQ(again.attr.ino, entry.attr.ino);
  EXPECT_EQ(again.attr.size, 10u);
}

TEST_F(FuseAnswersTest, ANameThatIsNotThereIsRememberedAsSuch) {
  const auto entry = ask(FUSE_LOOKUP, 1, std::string("none\0", 5)).as<fuse_entry_out>();
  EXPECT_EQ(entry.nodeid, 0u);
  EXPECT_GT(entry.entry_valid, 0u);
  EXPECT_EQ(ask(FUSE_LOOKUP, 77, std::string("a\0", 2)).error, ENOENT);
  EXPECT_EQ(ask(FUSE_GETATTR, 77).error, ENOENT);
}

TEST_F(FuseAnswersTest, BytesComeFromTheObject) {
  const auto file = look_up(1, "a.txt");
  EXPECT_EQ(ask(FUSE_READ, file, range(2, 4)).body, "2345");
  EXPECT_EQ(ask(FUSE_READ, file, range(8, 4096)).body, "89");
  EXPECT_EQ(ask(FUSE_READ, file, range(10, 4096)).body, "");
  EXPECT_EQ(ask(FUSE_READ, 1, range(0, 1)).error, EISDIR);
}

TEST_F(FuseAnswersTest, AnObjectThatIsGoneIsAnInputOutputError) {
  EXPECT_EQ(ask(FUSE_READ, look_up(look_up(1, "sub"), "b"), range(0, 3)).error, EIO);
}

TEST_F(FuseAnswersTest, ADirectoryIsListedInPieces) {
  std::vector<std::string> names;
  // Room for one entry at a time.
  for (std::uint64_t offset = 0;;) {
    const auto answer = ask(FUSE_READDIR, 1, range(offset, 40));
    ASSERT_EQ(answer.error, 0);
    if (answer.body.empty()) break;
    fuse_dirent entry{};
    std::memcpy(&entry, answer.body.data(), FUSE_NAME_OFFSET);
    names.push_back(answer.body.substr(FUSE_NAME_OFFSET, entry.namelen));
    offset = entry.off;
  }
  EXPECT_THAT(names, ElementsAre(".", "..", "a.txt", "sub"));
  EXPECT_EQ(ask(FUSE_READDIR, look_up(1, "a.txt"), range(0, 4096)).error, ENOTDIR);
}

TEST_F(FuseAnswersTest, AListingMayBringTheAttributes) {
  const auto answer = ask(FUSE_READDIRPLUS, 1, range(2, 4096));
  fuse_direntplus first{};
  std::memcpy(&first, answer.body.data(), FUSE_NAME_OFFSET_DIRENTPLUS);
  EXPECT_EQ(answer.body.substr(FUSE_NAME_OFFSET_DIRENTPLUS, first.dirent.namelen), "a.txt");
  EXPECT_EQ(first.entry_out.nodeid, look_up(1, "a.txt"));
  EXPECT_EQ(first.entry_out.attr.size, 10u);
}

TEST_F(FuseAnswersTest, WhatIsNotKnownIsNotImplementedAndForgettingNeedsNoAnswer) {
  EXPECT_EQ(ask(FUSE_OPEN, 2, std::string(8, '\0')).error, ENOSYS);
  EXPECT_EQ(ask(FUSE_WRITE, 2, std::string(40, '\0')).error, ENOSYS);
  EXPECT_EQ(ask(4711, 1).error, ENOSYS);
  EXPECT_EQ(ask(FUSE_FORGET, 2, std::string(8, '\0')).error, -1);
}

TEST_F(FuseAnswersTest, ShortRequestsAreRefused) {
  EXPECT_EQ(ask(FUSE_READ, look_up(1, "a.txt"), "xx").error, EIO);
  EXPECT_EQ(ask(FUSE_READDIR, 1, "").error, EIO);
  EXPECT_EQ(ask(FUSE_INIT, 0, "").error, EPROTO);
  std::string reply(FuseAnswers::kReplyBytes, '\0');
  EXPECT_EQ(answers_.answer(std::string("short"), reply), 0u);
}

TEST_F(FuseAnswersTest, TheSpaceIsThatOfTheObjects) {
  const auto out = ask(FUSE_STATFS, 1).as<fuse_statfs_out>();
  EXPECT_EQ(out.st.files, 2u);
  EXPECT_EQ(out.st.bfree, 0u);
}

}  // namespace
}  // namespace meridian::run
