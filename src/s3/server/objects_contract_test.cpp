// What every implementation of Objects promises.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "net/server.h"
#include "s3/client.h"
#include "s3/server/server.h"
#include "s3/store/test_store.h"

namespace meridian::s3 {
namespace {

// One implementation with a bucket "data" in it.
struct Subject {
  virtual ~Subject() = default;
  virtual Objects& objects() = 0;
};

struct FakeSubject final : Subject {
  TestObjects own;
  Objects& objects() override { return own.store; }
};

struct StoreSubject final : Subject {
  TestStore own;
  Objects& objects() override { return own.store; }
};

// A client over HTTP to a server whose caller is always the same.
struct ClientSubject final : Subject {
  TestStore own;
  Server server{{&own.store}, own.clock, own.random};
  net::HttpServer http{{}, [this](net::Request& request, net::Responder& responder) {
                         server.handle(request, {.account = "000000000000", .region = "us-west-2"},
                                       *request.body, {}, responder);
                       }};
  net::HttpClient connections;
  Client client{connections,
                own.clock,
                {.endpoint = "http://127.0.0.1:" + std::to_string(http.port()),
                 .region = "us-west-2",
                 .credentials = {"AKIA", "secret", ""},
                 .part_bytes = 5u << 20,
                 .range_bytes = 1000}};
  Objects& objects() override { return client; }
};

template <class T>
std::unique_ptr<Subject> make() {
  return std::make_unique<T>();
}

class ObjectsContract : public testing::TestWithParam<std::unique_ptr<Subject> (*)()> {
 protected:
  std::unique_ptr<Subject> subject_ = GetParam()();
  Objects& objects_ = subject_->objects();
  base::TempDir directory_{"contract"};
};

std::string name_of(const testing::TestParamInfo<std::unique_ptr<Subject> (*)()>& info) {
  constexpr std::array<const char*, 3> names{"fake", "store", "client"};
  return names.at(info.index);
}

INSTANTIATE_TEST_SUITE_P(, ObjectsContract,
                         testing::Values(&make<FakeSubject>, &make<StoreSubject>,
                                         &make<ClientSubject>),
                         &name_of);

base::Code code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const base::Error& error) {
    return error.code();
  }
  return base::Code::internal;
}

TEST_P(ObjectsContract, WhatWasPutIsFoundAndRead) {
  objects_.put_bytes("data", "a/b.txt", "hello");
  const auto info = objects_.find("data", "a/b.txt");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->size, 5u);
  EXPECT_EQ(info->etag, "5d41402abc4b2a76b9719d911017c592");
  EXPECT_EQ(contents(objects_, "data", "a/b.txt"), "hello");
}

TEST_P(ObjectsContract, TheLastPutCounts) {
  objects_.put_bytes("data", "k", "one");
  objects_.put_bytes("data", "k", "two!");
  EXPECT_EQ(contents(objects_, "data", "k"), "two!");
  EXPECT_EQ(objects_.list("data", "", "").objects.size(), 1u);
}

TEST_P(ObjectsContract, RangesAreReadAndEndWithTheObject) {
  std::string bytes;
  for (int i = 0; i < 2500; ++i) bytes += static_cast<char>('a' + i % 26);
  objects_.put_bytes("data", "k", bytes);
  EXPECT_EQ(objects_.open("data", "k", 10, 5)->read_all(100), bytes.substr(10, 5));
  EXPECT_EQ(objects_.open("data", "k", 990, 1100)->read_all(5000), bytes.substr(990, 1100));
  EXPECT_EQ(objects_.open("data", "k", 2400)->read_all(5000), bytes.substr(2400));
  EXPECT_EQ(objects_.open("data", "k", 2400, 5000)->read_all(5000), bytes.substr(2400));
  EXPECT_EQ(objects_.open("data", "k", 2500)->read_all(5000), "");
  EXPECT_EQ(objects_.open("data", "k", 9999, 3)->read_all(5000), "");
  EXPECT_EQ(objects_.open("data", "k")->length(), 2500u);
}

TEST_P(ObjectsContract, AnObjectIsFetchedIntoAFileWholeOrInStretches) {
  base::SeededRandom random(3);
  const auto bytes = random.bytes(3'000'000);
  objects_.put_bytes("data", "k", bytes);
  objects_.put_bytes("data", "empty", "");
  const auto path = directory_.path() / "fetched";
  base::write_file(path, std::string(3'500'000, 'o'));
  const auto file = base::open_file(path, O_WRONLY | O_CLOEXEC);
  const auto etag = objects_.find("data", "k")->etag;
  objects_.fetch("data", "k", file.get(), Stretch{1'000'000, 1'500'000, etag});
  const auto with_stretch = base::read_file(path);
  EXPECT_EQ(with_stretch.size(), 3'500'000u);
  EXPECT_EQ(with_stretch.substr(999'999, 1), "o");
  EXPECT_TRUE(with_stretch.substr(1'000'000, 1'500'000) == bytes.substr(1'000'000, 1'500'000));
  EXPECT_EQ(with_stretch.substr(2'500'000, 1), "o");
  base::write_file(directory_.path() / "whole", "");
  const auto whole = base::open_file(directory_.path() / "whole", O_WRONLY | O_CLOEXEC);
  objects_.fetch("data", "k", whole.get());
  EXPECT_TRUE(base::read_file(directory_.path() / "whole") == bytes);
  const auto empty = base::open_file(directory_.path() / "empty", O_WRONLY | O_CREAT | O_CLOEXEC);
  objects_.fetch("data", "empty", empty.get());
  EXPECT_EQ(base::read_file(directory_.path() / "empty"), "");
  EXPECT_EQ(code_of([&] { objects_.fetch("data", "absent", whole.get()); }), base::Code::not_found);
}

TEST_P(ObjectsContract, AnEmptyObjectIsAnObject) {
  objects_.put_bytes("data", "empty", "");
  EXPECT_EQ(objects_.find("data", "empty")->size, 0u);
  EXPECT_EQ(contents(objects_, "data", "empty"), "");
}

TEST_P(ObjectsContract, KeysMayHoldAnyCharacter) {
  const std::vector<std::string> keys{"run_id=2026-06-26T00:00:00+00:00/f.log",
                                      "a%20b",
                                      "a%2Bb",
                                      "a b",
                                      "//double//slash",
                                      "trailing/",
                                      "foo/bar/s3://baz",
                                      "quote\"'<>&?#*~",
                                      "emoji-\xF0\x9F\x98\x80/\xE2\x82\xAC",
                                      "new\nline\ttab\x01",
                                      std::string(1024, 'x'),
                                      "../up/./here"};
  for (const auto& key : keys) objects_.put_bytes("data", key, key);
  std::vector<std::string> listed;
  for_each_object(objects_, "data", "",
                  [&](const ObjectInfo& info) { listed.push_back(info.key); });
  EXPECT_THAT(listed, testing::UnorderedElementsAreArray(keys));
  for (const auto& key : keys) EXPECT_EQ(contents(objects_, "data", key), key);
  for (const auto& key : keys) objects_.remove("data", key);
  EXPECT_TRUE(objects_.list("data", "", "").objects.empty());
}

TEST_P(ObjectsContract, ListsComeByKeyInPagesBelowThePrefix) {
  for (const char* key : {"p/c", "p/a", "q", "p/b", "p"}) objects_.put_bytes("data", key, "x");
  auto page = objects_.list("data", "p/", "", 2);
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].key, "p/a");
  EXPECT_EQ(page.objects[1].key, "p/b");
  page = objects_.list("data", "p/", page.next_after, 2);
  ASSERT_EQ(page.objects.size(), 1u);
  EXPECT_EQ(page.objects[0].key, "p/c");
  EXPECT_EQ(page.next_after, "");
}

TEST_P(ObjectsContract, AFileBecomesAnObject) {
  const auto file = directory_.path() / "file";
  base::write_file(file, "from a file");
  objects_.put_file("data", "k", file);
  EXPECT_EQ(contents(objects_, "data", "k"), "from a file");
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_P(ObjectsContract, AnAdoptedFileBecomesAnObjectAndIsGone) {
  const auto file = directory_.path() / "file";
  base::write_file(file, "from a file");
  objects_.adopt_file("data", "k", file);
  EXPECT_EQ(contents(objects_, "data", "k"), "from a file");
  EXPECT_EQ(objects_.find("data", "k")->etag, "a2ff927a35d635f95250874d24d9ec6f");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_P(ObjectsContract, ALargeFileArrivesWhole) {
  base::SeededRandom random(5);
  const auto bytes = random.bytes((11u << 20) + 17);
  const auto file = directory_.path() / "file";
  base::write_file(file, bytes);
  objects_.put_file("data", "k", file);
  const auto info = objects_.find("data", "k");
  EXPECT_EQ(info->size, bytes.size());
  EXPECT_EQ(objects_.open("data", "k", 10u << 20)->read_all(4u << 20), bytes.substr(10u << 20));
}

TEST_P(ObjectsContract, AbsentKeysAreNotFoundAndRemovingThemIsFine) {
  EXPECT_EQ(objects_.find("data", "absent"), std::nullopt);
  EXPECT_EQ(code_of([&] { objects_.open("data", "absent"); }), base::Code::not_found);
  objects_.remove("data", "absent");
}

TEST_P(ObjectsContract, AnAbsentBucketIsNotFoundAndNamed) {
  EXPECT_EQ(code_of([&] { objects_.find("nobucket", "k"); }), base::Code::not_found);
  EXPECT_EQ(code_of([&] { objects_.put_bytes("nobucket", "k", "x"); }), base::Code::not_found);
  try {
    objects_.list("nobucket", "", "");
    FAIL() << "listed a bucket that does not exist";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::not_found);
    EXPECT_THAT(error.what(), testing::HasSubstr("nobucket"));
  }
}

}  // namespace
}  // namespace meridian::s3
