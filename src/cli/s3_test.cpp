// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <atomic>
#include <mutex>

#include "base/file.h"
#include "cli/buckets.h"
#include "cli/s3_copy.h"
#include "cli/upload.h"

namespace meridian::cli {
namespace {

using testing::ElementsAre;

TEST(S3Places, ATargetFolderTakesTheFilesName) {
  EXPECT_EQ(target_key("", "a.csv"), "a.csv");
  EXPECT_EQ(target_key("data/", "a.csv"), "data/a.csv");
  EXPECT_EQ(target_key("data/b.csv", "a.csv"), "data/b.csv");
  EXPECT_THROW(s3_uri("s3://"), base::Error);
}

TEST(S3Places, DownloadsStayInsideTheirDirectory) {
  EXPECT_EQ(relative_target("data/a/b.csv", "data/"), "a/b.csv");
  EXPECT_EQ(relative_target("data/a/b.csv", "data/a"), "a/b.csv");
  EXPECT_EQ(relative_target("data/a/b.csv", ""), "data/a/b.csv");
  EXPECT_FALSE(relative_target("data/folder/", "data/"));
  EXPECT_FALSE(relative_target("data/../../etc/passwd", "data/"));
  EXPECT_EQ(relative_target("data//etc/passwd", "data/"), "etc/passwd");
}

TEST(Buckets, TheListIsRead) {
  auto buckets = parse_bucket_list(
      "<ListAllMyBucketsResult><Buckets><Bucket><Name>b</Name>"
      "<CreationDate>2026-01-31T12:00:00.000Z</CreationDate></Bucket></Buckets>"
      "</ListAllMyBucketsResult>");
  ASSERT_TRUE(buckets);
  ASSERT_EQ(buckets->size(), 1u);
  EXPECT_EQ(buckets->front().name, "b");
  EXPECT_EQ(buckets->front().created.ms, 1'769'860'800'000);
  EXPECT_FALSE(parse_bucket_list("<half"));
}

TEST(Buckets, APageHasFoldersAndDecodedKeys) {
  auto page = parse_folder_page(
      "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</"
      "NextContinuationToken><Contents><Key>a%20b</Key><Size>5</Size><ETag>&quot;e&quot;</ETag>"
      "<LastModified>2026-01-31T12:00:00.000Z</LastModified></Contents>"
      "<CommonPrefixes><Prefix>dir/</Prefix></CommonPrefixes></ListBucketResult>");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->next_token, "t");
  EXPECT_THAT(page->folders, ElementsAre("dir/"));
  ASSERT_EQ(page->objects.size(), 1u);
  EXPECT_EQ(page->objects[0].key, "a b");
  EXPECT_EQ(page->objects[0].size, 5u);
  EXPECT_EQ(page->objects[0].etag, "e");
}

// Keeps the keys that were put; fails for those that hold "bad".
class MemoryObjects final : public s3::Objects {
 public:
  s3::ObjectPage list(const std::string&, const std::string&, const std::string&,
                      std::size_t) override {
    return {};
  }
  std::optional<s3::ObjectInfo> find(const std::string&, const std::string&) override { return {}; }
  std::unique_ptr<net::BodyReader> open(const std::string&, const std::string&, std::uint64_t,
                                        std::optional<std::uint64_t>) override {
    return nullptr;
  }
  std::optional<std::filesystem::path> find_file(const std::string&, const std::string&) override {
    return {};
  }
  void put_file(const std::string& bucket, const std::string& key, const std::filesystem::path&,
                std::stop_token) override {
    if (key.find("bad") != std::string::npos)
      throw base::Error(base::Code::permission_denied, "no: " + key);
    const std::lock_guard lock(mutex);
    keys.push_back(bucket + "/" + key);
  }
  void put_bytes(const std::string&, const std::string&, std::string_view) override {}
  void remove(const std::string&, const std::string&) override {}
  std::mutex mutex;
  std::vector<std::string> keys;
};

class Upload : public testing::Test {
 protected:
  void write(const std::string& name) {
    std::filesystem::create_directories((root.path() / name).parent_path());
    base::write_file(root.path() / name, "12345");
  }
  base::TempDir root;
  MemoryObjects objects;
};

TEST_F(Upload, EveryFileGetsItsKeyAndIsCounted) {
  for (int number = 0; number < 20; ++number) write("d/" + std::to_string(number));
  const auto files = find_files(root.path());
  UploadProgress last;
  upload_files(objects, files, "b", "p/", [&](const UploadProgress& now) { last = now; });
  EXPECT_EQ(objects.keys.size(), 20u);
  EXPECT_THAT(objects.keys, testing::Contains("b/p/d/7"));
  EXPECT_EQ(last.text(), "20/20 files, 100 B of 100 B");
}

TEST_F(Upload, OneFileIsItsOwnName) {
  write("a.csv");
  const auto files = find_files(root.path() / "a.csv");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].key, "a.csv");
}

TEST_F(Upload, TheFirstFailureEndsIt) {
  write("bad");
  write("good");
  const auto files = find_files(root.path());
  EXPECT_THROW(upload_files(objects, files, "b", "", {}), base::Error);
}

TEST_F(Upload, AnEmptyDirectoryIsAnError) {
  EXPECT_THROW(find_files(root.path()), base::Error);
  EXPECT_THROW(find_files(root.path() / "none"), base::Error);
}

}  // namespace
}  // namespace meridian::cli
