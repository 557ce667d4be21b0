// SPDX-License-Identifier: Apache-2.0
#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "s3/fake_objects.h"
#include "s3/staging.h"
#include "s3/tree.h"

namespace meridian::s3 {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class Archive : public testing::Test {
 protected:
  void write(const fs::path& path, const std::string& text) {
    base::make_directories((root_ / path).parent_path());
    base::write_file(root_ / path, text);
  }
  Upload pack(const std::vector<fs::path>& directories) {
    return upload_archive(own_.store, directories, "data", "model.tar.gz", root_ / "scratch", {});
  }
  void unpack(const std::string& key = "model.tar.gz") {
    auto body = own_.store.open("data", key);
    extract_archive(*body, root_ / "out");
  }
  std::string unpacked(const std::string& path) { return base::read_file(root_ / "out" / path); }

  TestObjects own_;
  base::TempDir directory_{"archive"};
  fs::path root_ = directory_.path();
};

TEST_F(Archive, TheContentsComeBackFromTheArchivesRoot) {
  write("model/weights.bin", std::string(300'000, 'w'));
  write("model/deep/er/file", "deep");
  fs::permissions(root_ / "model/deep/er/file", fs::perms(0755));
  fs::create_directory(root_ / "model/empty");
  fs::create_symlink("weights.bin", root_ / "model/latest");
  const auto upload = pack({root_ / "model"});
  EXPECT_EQ(upload.bytes, own_.store.find("data", "model.tar.gz")->size);
  EXPECT_THAT(upload.left_out, ElementsAre());
  unpack();
  EXPECT_EQ(unpacked("weights.bin"), std::string(300'000, 'w'));
  EXPECT_EQ(unpacked("deep/er/file"), "deep");
  EXPECT_EQ(unpacked("latest"), unpacked("weights.bin"));
  EXPECT_TRUE(fs::is_directory(root_ / "out/empty"));
  EXPECT_EQ(fs::status(root_ / "out/deep/er/file").permissions(), fs::perms(0755));
  EXPECT_TRUE(fs::is_empty(root_ / "scratch"));
}

TEST_F(Archive, TheFirstDirectoryWinsAName) {
  write("one/a", "first");
  write("two/a", "second");
  write("two/b", "only here");
  pack({root_ / "one", root_ / "absent", root_ / "two"});
  unpack();
  EXPECT_EQ(unpacked("a"), "first");
  EXPECT_EQ(unpacked("b"), "only here");
}

TEST_F(Archive, LinksThatLeaveAndPipesAreLeftOutAndListed) {
  write("secret", "secret");
  write("model/a", "a");
  fs::create_symlink("/etc/passwd", root_ / "model/absolute");
  fs::create_symlink("../secret", root_ / "model/up");
  ::mkfifo((root_ / "model/pipe").c_str(), 0600);
  EXPECT_THAT(pack({root_ / "model"}).left_out, ElementsAre("absolute", "pipe", "up"));
  unpack();
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "out"), {}), 1);
}

TEST_F(Archive, ATreeGoesUpFileByFile) {
  write("secret", "secret");
  write("model/a", "a");
  write("model/deep/b", "bb");
  fs::create_symlink("a", root_ / "model/same");
  fs::create_symlink("../secret", root_ / "model/up");
  const auto upload = upload_tree(own_.store, root_ / "model", "data", "job/output/model/", {});
  EXPECT_EQ(upload.bytes, 4u);
  EXPECT_THAT(upload.left_out, ElementsAre("up"));
  EXPECT_EQ(contents(own_.store, "data", "job/output/model/deep/b"), "bb");
  EXPECT_EQ(contents(own_.store, "data", "job/output/model/same"), "a");
  EXPECT_EQ(own_.store.list("data", "", "").objects.size(), 3u);
}

// A tar made of entries that no honest program writes.
struct Hostile {
  std::string path;
  unsigned type = AE_IFREG;
  std::string link, hardlink, content;
  unsigned mode = 0644;
};

std::string tar_of(const std::vector<Hostile>& entries) {
  std::string bytes(1u << 20, '\0');
  std::size_t used = 0;
  auto* archive = archive_write_new();
  archive_write_set_format_ustar(archive);
  archive_write_open_memory(archive, bytes.data(), bytes.size(), &used);
  for (const auto& hostile : entries) {
    auto* entry = archive_entry_new();
    archive_entry_set_pathname(entry, hostile.path.c_str());
    archive_entry_set_filetype(entry, hostile.type);
    archive_entry_set_perm(entry, static_cast<mode_t>(hostile.mode));
    archive_entry_set_size(entry, static_cast<la_int64_t>(hostile.content.size()));
    if (!hostile.link.empty()) archive_entry_set_symlink(entry, hostile.link.c_str());
    if (!hostile.hardlink.empty()) archive_entry_set_hardlink(entry, hostile.hardlink.c_str());
    archive_write_header(archive, entry);
    archive_write_data(archive, hostile.content.data(), hostile.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(archive);
  archive_write_free(archive);
  bytes.resize(used);
  return bytes;
}

TEST_F(Archive, NothingIsWrittenOutsideTheDirectory) {
  base::write_file(root_ / "victim", "safe");
  const auto outside = (root_ / "victim").string();
  const std::vector<std::vector<Hostile>> attacks{
      {{.path = "../victim", .content = "bad"}},
      {{.path = "a/../../victim", .content = "bad"}},
      {{.path = "link", .type = AE_IFLNK, .link = ".."}, {.path = "link/victim", .content = "bad"}},
      {{.path = "link", .type = AE_IFLNK, .link = outside}, {.path = "link", .content = "bad"}},
      {{.path = "d", .type = AE_IFDIR},
       {.path = "d/up", .type = AE_IFLNK, .link = "../.."},
       {.path = "d/up/victim", .content = "bad"}},
      {{.path = "ok", .type = AE_IFLNK, .link = "inside"}, {.path = "ok/victim", .content = "bad"}},
      {{.path = "hard", .hardlink = "../victim"}, {.path = "hard", .content = "bad"}},
      {{.path = "hard", .hardlink = outside}},
      {{.path = "device", .type = AE_IFCHR}},
      {{.path = "pipe", .type = AE_IFIFO}}};
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    fs::remove_all(root_ / "out");
    net::StringBody body(tar_of(attacks[i]));
    try {
      extract_archive(body, root_ / "out");
      ADD_FAILURE() << "attack " << i << " was not refused";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::Code::invalid_argument) << error.what();
    }
    EXPECT_EQ(base::read_file(root_ / "victim"), "safe") << "attack " << i;
    EXPECT_EQ(fs::status(root_ / "victim").permissions() & fs::perms(0222), fs::perms(0200));
  }
}

TEST_F(Archive, AnAbsolutePathLandsInside) {
  net::StringBody body(tar_of({{.path = "/etc/name", .content = "x"}}));
  extract_archive(body, root_ / "out");
  EXPECT_EQ(unpacked("etc/name"), "x");
}

TEST_F(Archive, NoSetuidBitSurvives) {
  net::StringBody body(tar_of({{.path = "tool", .content = "x", .mode = 06755}}));
  extract_archive(body, root_ / "out");
  EXPECT_EQ(fs::status(root_ / "out/tool").permissions(), fs::perms(0755));
}

TEST_F(Archive, ABrokenArchiveIsRefused) {
  write("model/a", std::string(100'000, 'a'));
  pack({root_ / "model"});
  const auto whole = contents(own_.store, "data", "model.tar.gz");
  for (const auto& bad : {std::string("no archive"), whole.substr(0, whole.size() / 2)}) {
    net::StringBody body(bad);
    EXPECT_THROW(extract_archive(body, root_ / "out"), base::Error);
  }
}

}  // namespace
}  // namespace meridian::s3
