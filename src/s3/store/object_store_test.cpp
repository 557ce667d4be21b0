// SPDX-License-Identifier: Apache-2.0
#include "s3/store/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "s3/error.h"
#include "s3/staging.h"
#include "s3/store/test_store.h"

namespace meridian::s3 {
namespace {

namespace fs = std::filesystem;

std::string s3_code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const S3Error& error) {
    return error.s3_code();
  }
  return "";
}

std::size_t files_below(const fs::path& directory) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    count += entry.is_regular_file();
  return count;
}

class Store : public testing::Test {
 protected:
  ObjectRecord put(const std::string& key, const std::string& bytes,
                   WriteConditions conditions = {}) {
    net::StringBody body(bytes);
    return own_.store.put({.bucket = "data", .key = key, .conditions = std::move(conditions)},
                          body);
  }
  void set_versioning(Versioning versioning) {
    own_.store.update_bucket("data", [&](BucketRecord& b) { b.versioning = versioning; });
  }
  std::size_t content_files() {
    return files_below(own_.directory.path() / "us-west-2" / "objects");
  }
  TestStore own_;
};

// A body that breaks off.
class BrokenBody final : public net::BodyReader {
 public:
  std::size_t read(char* buffer, std::size_t size) override {
    if (left_ == 0) throw base::Error(base::Code::unavailable, "the peer left");
    const auto n = std::min(size, left_);
    std::fill_n(buffer, n, 'x');
    left_ -= n;
    return n;
  }
  std::optional<std::uint64_t> length() const override { return 8u << 20; }

 private:
  std::size_t left_ = 3u << 20;
};

TEST_F(Store, ABrokenUploadLeavesNothing) {
  put("k", "before");
  const auto files = content_files();
  BrokenBody body;
  EXPECT_THROW(own_.store.put({.bucket = "data", .key = "k"}, body), base::Error);
  EXPECT_EQ(contents(own_.store, "data", "k"), "before");
  EXPECT_EQ(content_files(), files);
}

TEST_F(Store, ContentOfOverwrittenAndRemovedObjectsGoes) {
  put("k", "1");
  put("k", "2");
  EXPECT_EQ(content_files(), 1u);
  own_.store.remove("data", "k");
  EXPECT_EQ(content_files(), 0u);
}

TEST_F(Store, AReaderKeepsTheBytesItBegan) {
  put("k", "old bytes");
  auto reader = own_.store.open("data", "k");
  char first = 0;
  reader->read(&first, 1);
  put("k", "new");
  own_.store.remove("data", "k");
  EXPECT_EQ(first + reader->read_all(100), "old bytes");
  reader.reset();
  EXPECT_EQ(content_files(), 0u);
}

TEST_F(Store, OfRacingConditionalWritersOneWins) {
  std::atomic<int> won{0}, lost{0};
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 8; ++i) {
      writers.emplace_back([&, i] {
        const auto code =
            s3_code_of([&] { put("lock", std::to_string(i), {.if_none_match_any = true}); });
        (code.empty() ? won : lost) += code.empty() || code == "PreconditionFailed";
      });
    }
  }
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, 7);
  EXPECT_EQ(content_files(), 1u);
}

TEST_F(Store, RacingWritersAndAReaderSeeWholeObjects) {
  put("k", std::string(100, 'a'));
  std::vector<std::jthread> writers;
  for (char c : {'b', 'c'}) {
    writers.emplace_back([&, c](std::stop_token stop) {
      while (!stop.stop_requested()) put("k", std::string(100, c));
    });
  }
  for (int i = 0; i < 200; ++i) {
    const auto bytes = contents(own_.store, "data", "k");
    ASSERT_EQ(bytes, std::string(100, bytes.at(0)));
  }
  writers.clear();
  EXPECT_EQ(content_files(), 1u);
}

TEST_F(Store, ACopySharesTheBytesAndOutlivesItsSource) {
  put("a", "body");
  own_.store.copy(*own_.store.hold("data", "a"), {.bucket = "data", .key = "b"});
  own_.store.remove("data", "a");
  EXPECT_EQ(contents(own_.store, "data", "b"), "body");
  EXPECT_EQ(content_files(), 1u);
}

TEST_F(Store, VersionsKeepTheirOrderWhenTheClockGoesBack) {
  set_versioning(Versioning::enabled);
  const auto first = put("k", "1");
  own_.clock.jump_wall_clock(std::chrono::hours(-5));
  const auto second = put("k", "2");
  own_.store.remove("data", "k");
  own_.clock.jump_wall_clock(std::chrono::hours(-5));
  put("k", "3");
  const auto listing = own_.store.list_versions({.bucket = "data"});
  ASSERT_EQ(listing.objects.size(), 4u);
  EXPECT_TRUE(listing.objects[1].delete_marker);
  EXPECT_EQ(listing.objects[2].version_id, second.version_id);
  EXPECT_EQ(listing.objects[3].version_id, first.version_id);
  EXPECT_THAT(listing.latest, testing::ElementsAre(true, false, false, false));
}

TEST_F(Store, ListingWithADelimiterSkipsOverCommonPrefixes) {
  for (int folder = 0; folder < 5; ++folder) {
    for (int i = 0; i < 60; ++i) put("p/" + std::to_string(folder) + "/" + std::to_string(i), "");
  }
  put("p/zero", "");
  const auto listing =
      own_.store.list_objects({.bucket = "data", .prefix = "p/", .delimiter = "/"});
  EXPECT_THAT(listing.common_prefixes,
              testing::ElementsAre("p/0/", "p/1/", "p/2/", "p/3/", "p/4/"));
  ASSERT_EQ(listing.objects.size(), 1u);
  EXPECT_FALSE(listing.truncated);
}

TEST_F(Store, ABucketIsRemovedOnlyWhenNothingIsInIt) {
  EXPECT_EQ(
      s3_code_of([&] { own_.store.create_bucket({.name = "data", .account = "000000000000"}); }),
      "BucketAlreadyOwnedByYou");
  EXPECT_EQ(s3_code_of([&] { own_.store.create_bucket({.name = "data", .account = "1"}); }),
            "BucketAlreadyExists");
  const auto upload = own_.store.create_upload({.bucket = "data", .key = "k"}, true);
  EXPECT_EQ(s3_code_of([&] { own_.store.remove_bucket("data"); }), "BucketNotEmpty");
  own_.store.abort_upload("data", "k", upload.id);
  own_.store.remove_bucket("data");
  EXPECT_EQ(s3_code_of([&] { put("k", "x"); }), "NoSuchBucket");
}

TEST_F(Store, PartsOfAnAbortedUploadGo) {
  const auto upload = own_.store.create_upload({.bucket = "data", .key = "k"}, true);
  for (int number : {1, 1, 2}) {
    net::StringBody body("part");
    own_.store.put_part({.bucket = "data", .key = "k", .upload_id = upload.id, .number = number},
                        body);
  }
  EXPECT_EQ(content_files(), 2u);
  own_.store.abort_upload("data", "k", upload.id);
  EXPECT_EQ(content_files(), 0u);
}

class Parts : public Store {
 protected:
  static constexpr std::size_t size = 5u << 20;

  static std::string bytes_of(int number, std::size_t count = size) {
    return std::string(count, static_cast<char>('a' + number));
  }
  CompletedPart send(int number, const std::string& bytes) {
    net::StringBody body(bytes);
    return send(number, body);
  }
  CompletedPart send(int number, net::BodyReader& body) {
    const auto part = own_.store.put_part(
        {.bucket = "data", .key = "p/big", .upload_id = upload_, .number = number}, body);
    return {number, part.etag, {}};
  }
  ObjectRecord complete(std::vector<CompletedPart> parts) {
    return own_.store.complete_upload(
        {.bucket = "data", .key = "p/big", .upload_id = upload_, .parts = std::move(parts)});
  }
  // What is read, staged and told of the completed object must all be these bytes.
  void expect_object(const std::string& bytes) {
    EXPECT_TRUE(contents(own_.store, "data", "p/big") == bytes);
    const base::TempDir target("staged");
    stage(own_.store, list_channel(own_.store, {.uri = "s3://data/p/"}), target.path(),
          Decompress::none, {}, {});
    EXPECT_TRUE(base::read_file(target.path() / "big") == bytes);
    const auto across = bytes.substr(size - 10, 20);
    EXPECT_EQ(own_.store.open("data", "p/big", size - 10, 20)->read_all(100), across);
    std::string together;
    const auto pieces = own_.store.find_pieces("data", "p/big").value();
    for (const auto& piece : pieces)
      together += base::read_file(piece.file).substr(piece.offset, piece.size);
    EXPECT_TRUE(together == bytes);
  }

  const std::string upload_ = own_.store.create_upload({.bucket = "data", .key = "p/big"}, true).id;
};

TEST_F(Parts, OfOneSizeShareAFileWhichIsThenTheObjects) {
  const auto three = send(3, bytes_of(3, 1000));  // the last, and the first to come
  const auto two = send(2, bytes_of(2)), one = send(1, bytes_of(1));
  complete({one, two, three});
  EXPECT_EQ(content_files(), 2u) << "the small one came before anybody knew the size of the others";
  expect_object(bytes_of(1) + bytes_of(2) + bytes_of(3, 1000));
}

TEST_F(Parts, InOrderBecomeOneFileThatIsLinked) {
  std::vector<CompletedPart> parts;
  for (int number : {1, 2}) parts.push_back(send(number, bytes_of(number)));
  parts.push_back(send(3, "tail"));
  EXPECT_EQ(content_files(), 1u);
  complete(parts);
  const auto file = own_.store.find_file("data", "p/big");
  ASSERT_TRUE(file);
  EXPECT_TRUE(base::read_file(*file) == bytes_of(1) + bytes_of(2) + "tail");
  expect_object(bytes_of(1) + bytes_of(2) + "tail");
  own_.store.remove("data", "p/big");
  EXPECT_EQ(content_files(), 0u);
}

TEST_F(Parts, SentAgainDoNotTouchWhatWasAcknowledged) {
  const auto one = send(1, bytes_of(1));
  const auto two = send(2, bytes_of(2));
  const auto again = send(1, bytes_of(7));
  EXPECT_EQ(content_files(), 2u);
  EXPECT_EQ(s3_code_of([&] { complete({one, two}); }), "InvalidPart") << "replaced";
  complete({again, two});
  expect_object(bytes_of(7) + bytes_of(2));
  EXPECT_EQ(own_.store.find_file("data", "p/big"), std::nullopt);
}

TEST_F(Parts, ThatWereNotListedAreNotInTheObject) {
  const auto one = send(1, bytes_of(1)), two = send(2, bytes_of(2));
  send(3, bytes_of(3));
  complete({one, two});
  EXPECT_EQ(own_.store.find_file("data", "p/big"), std::nullopt) << "the file holds more";
  expect_object(bytes_of(1) + bytes_of(2));
}

TEST_F(Parts, WithGapsAndLargerOnesMakeTheObjectTheyAreListedAs) {
  const auto two = send(2, bytes_of(2)), five = send(5, bytes_of(5));
  const auto six = send(6, bytes_of(6, size + 1));
  complete({two, five, six});
  expect_object(bytes_of(2) + bytes_of(5) + bytes_of(6, size + 1));
}

// A part that begins, and goes on only when it is told to.
class Held final : public net::BodyReader {
 public:
  std::size_t read(char* buffer, std::size_t n) override {
    if (left_ == 0) return 0;
    if (left_ == 5u << 20) {
      begun.set_value();
      go_on.get_future().wait();
    }
    n = std::min(n, left_);
    std::fill_n(buffer, n, 'h');
    left_ -= n;
    return n;
  }
  std::optional<std::uint64_t> length() const override { return 5u << 20; }
  std::promise<void> begun, go_on;

 private:
  std::size_t left_ = 5u << 20;
};

TEST_F(Parts, StillBeingSentDoNotGetIntoTheObject) {
  const auto one = send(1, bytes_of(1)), two = send(2, bytes_of(2));
  Held held;
  std::thread late([&] { EXPECT_EQ(s3_code_of([&] { send(3, held); }), "NoSuchUpload"); });
  held.begun.get_future().wait();
  complete({one, two});
  const auto file = own_.store.find_file("data", "p/big");
  held.go_on.set_value();
  late.join();
  ASSERT_TRUE(file);
  EXPECT_TRUE(base::read_file(*file) == bytes_of(1) + bytes_of(2));
  expect_object(bytes_of(1) + bytes_of(2));
  EXPECT_EQ(content_files(), 1u);
}

TEST_F(Parts, ABrokenOneIsSentAgainToItsPlace) {
  const auto one = send(1, bytes_of(1));
  class Broken final : public net::BodyReader {
   public:
    std::size_t read(char* buffer, std::size_t) override {
      if (sent_) throw base::Error(base::Code::unavailable, "gone");
      sent_ = true;
      buffer[0] = 'x';
      return 1;
    }
    std::optional<std::uint64_t> length() const override { return 5u << 20; }

   private:
    bool sent_ = false;
  } broken;
  EXPECT_THROW(send(2, broken), base::Error);
  const auto two = send(2, bytes_of(2));
  complete({one, two});
  EXPECT_TRUE(own_.store.find_file("data", "p/big"));
  expect_object(bytes_of(1) + bytes_of(2));
}

class Completion : public Store {
 protected:
  // An upload with one part, and the request that completes it.
  CompletionRequest uploaded(const std::string& key, const std::string& bytes = "part") {
    const auto upload = own_.store.create_upload({.bucket = "data", .key = key}, true);
    net::StringBody body(bytes);
    const auto part = own_.store.put_part(
        {.bucket = "data", .key = key, .upload_id = upload.id, .number = 1}, body);
    return {.bucket = "data", .key = key, .upload_id = upload.id, .parts = {{1, part.etag, {}}}};
  }
  std::string code_of_completing(const CompletionRequest& request) {
    return s3_code_of([&] { own_.store.complete_upload(request); });
  }
};

TEST_F(Completion, AskedForAgainGivesTheSameAnswer) {
  auto request = uploaded("k");
  request.conditions.if_none_match_any = true;  // which the object itself would fail now
  const auto first = own_.store.complete_upload(request);
  const auto second = own_.store.complete_upload(request);
  EXPECT_EQ(second.etag, first.etag);
  EXPECT_EQ(second.order, first.order);
  EXPECT_EQ(contents(own_.store, "data", "k"), "part");
  auto other_parts = request;
  other_parts.parts[0].etag = std::string(32, '0');
  EXPECT_EQ(code_of_completing(other_parts), "NoSuchUpload");
  auto other_key = request;
  other_key.key = "other";
  EXPECT_EQ(code_of_completing(other_key), "NoSuchUpload");
}

TEST_F(Completion, AskedForAgainDoesNotBringBackWhatCameAfter) {
  const auto request = uploaded("k");
  own_.store.complete_upload(request);
  put("k", "newer");
  own_.store.complete_upload(request);
  EXPECT_EQ(contents(own_.store, "data", "k"), "newer");
}

TEST_F(Completion, IsForgottenAfterADay) {
  const auto request = uploaded("k");
  own_.store.complete_upload(request);
  own_.clock.advance(std::chrono::hours(23));
  own_.store.complete_upload(uploaded("k"));
  EXPECT_EQ(code_of_completing(request), "");
  own_.clock.advance(std::chrono::hours(2));
  own_.store.complete_upload(uploaded("k"));
  EXPECT_EQ(code_of_completing(request), "NoSuchUpload");
}

TEST_F(Completion, OfABucketThatIsGoneIsGoneWithIt) {
  const auto request = uploaded("k");
  own_.store.complete_upload(request);
  own_.store.remove("data", "k");
  own_.store.remove_bucket("data");
  own_.clock.advance(std::chrono::seconds(1));
  own_.store.create_bucket({.name = "data", .account = "000000000000"});
  EXPECT_EQ(code_of_completing(request), "NoSuchUpload");
}

TEST_F(Completion, ClaimsAboutTheWholeObjectMustBeSo) {
  auto request = uploaded("k");
  request.size = 5;
  EXPECT_EQ(code_of_completing(request), "InvalidRequest");
  request.size = 4;
  request.checksum_kind = ChecksumKind::crc32;
  request.checksum = "AAAAAA==";
  EXPECT_EQ(code_of_completing(request), "InvalidRequest") << "created without an algorithm";
  request.checksum.reset();
  EXPECT_EQ(code_of_completing(request), "");
}

// Opened, written to and closed again as a daemon does it.
class Reopened : public testing::Test {
 protected:
  std::unique_ptr<ObjectStore> open() {
    return std::make_unique<ObjectStore>(
        ObjectStoreSettings{.directory = directory_.path(), .region = "r"}, clock_, random_);
  }
  base::TempDir directory_{"reopened"};
  base::ManualClock clock_;
  base::SeededRandom random_{1};
};

TEST_F(Reopened, ObjectsAndBucketsAreThereAgain) {
  {
    auto store = open();
    store->create_bucket({.name = "data", .account = "000000000000"});
    store->put_bytes("data", "k", "body");
  }
  auto store = open();
  EXPECT_EQ(store->find_bucket("data")->region, "r");
  EXPECT_EQ(contents(*store, "data", "k"), "body");
}

TEST_F(Reopened, AfterACrashContentThatNothingNamesIsRemoved) {
  {
    auto store = open();
    store->create_bucket({.name = "data", .account = "000000000000"});
    store->put_bytes("data", "k", "body");
    const auto upload = store->create_upload({.bucket = "data", .key = "u"}, true);
    for (const std::string bytes : {std::string(5u << 20, 'p'), std::string("tail")}) {
      net::StringBody body(bytes);
      store->put_part(
          {.bucket = "data", .key = "u", .upload_id = upload.id, .number = bytes == "tail" ? 2 : 1},
          body);
    }
  }
  fs::remove(directory_.path() / "objects.clean");  // what a crash does not write
  base::make_directories(directory_.path() / "objects/ab");
  base::write_file(directory_.path() / "objects/ab/ab0000", "renamed, never named");
  base::write_file(directory_.path() / "objects/tmp/cd0000", "half written");
  auto store = open();
  EXPECT_EQ(files_below(directory_.path() / "objects"), 2u);
  EXPECT_EQ(contents(*store, "data", "k"), "body");
}

}  // namespace
}  // namespace meridian::s3
