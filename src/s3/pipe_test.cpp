// SPDX-License-Identifier: Apache-2.0
#include "s3/pipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "s3/fake_objects.h"

namespace meridian::s3 {
namespace {

class Pipe : public testing::Test {
 protected:
  Pipe() {
    for (const char* key : {"p/1", "p/2", "p/3"}) own_.store.put_bytes("data", key, key);
    own_.store.put_bytes("data", "p/empty", "");
  }
  std::string epoch(const ChannelSource& source, PipeEpoch settings = {}) {
    return open_pipe_epoch(own_.store, source, settings)->read_all(1u << 20);
  }
  TestObjects own_;
};

std::string record(const std::string& bytes) {
  return record_io_header(static_cast<std::uint32_t>(bytes.size())) + bytes +
         std::string(record_io_padding(bytes.size()), '\0');
}

TEST_F(Pipe, ObjectsFollowEachOther) { EXPECT_EQ(epoch({.uri = "s3://data/p/"}), "p/1p/2p/3"); }

TEST_F(Pipe, ARecordIoHeaderIsMagicAndLength) {
  EXPECT_EQ(base::hex(record_io_header(258)), "0a23d7ce02010000");
  for (std::uint64_t length : {0, 1, 2, 3, 4, 5})
    EXPECT_EQ((length + record_io_padding(length)) % 4, 0u);
}

TEST_F(Pipe, RecordIoWrapsEachObject) {
  EXPECT_EQ(epoch({.uri = "s3://data/p/"}, {.wrapper = RecordWrapper::record_io}),
            record("p/1") + record("p/2") + record("p/3") + record(""));
}

TEST_F(Pipe, SmallReadsGiveTheSameBytes) {
  auto reader =
      open_pipe_epoch(own_.store, {.uri = "s3://data/p/"}, {.wrapper = RecordWrapper::record_io});
  std::string all;
  char byte = 0;
  while (reader->read(&byte, 1) == 1) all += byte;
  EXPECT_EQ(all, epoch({.uri = "s3://data/p/"}, {.wrapper = RecordWrapper::record_io}));
}

TEST_F(Pipe, AnAugmentedManifestStreamsItsAttributesInOrder) {
  own_.store.put_bytes("data", "m.jsonl",
                       "{\"label\": 5, \"image-ref\": \"s3://data/p/1\", \"skip\": 1}\n"
                       "\n"
                       "{\"image-ref\": \"s3://data/p/2\", \"label\": {\"a\": [1, \"b\"]}}\n"
                       "{\"image-ref\": \"s3://data/p/3\", \"label\": \"text\"}");
  const ChannelSource source{.uri = "s3://data/m.jsonl",
                             .type = DataType::augmented_manifest,
                             .attributes = {"image-ref", "label"}};
  EXPECT_EQ(epoch(source, {.wrapper = RecordWrapper::record_io}),
            record("p/1") + record("5") + record("p/2") + record("{\"a\":[1,\"b\"]}") +
                record("p/3") + record("text"));
  auto mine = source;
  mine.distribution = Distribution::sharded;
  EXPECT_EQ(epoch(mine, {.index = 0, .count = 2}), "p/15p/3text");
  EXPECT_EQ(epoch(mine, {.index = 1, .count = 2}), "p/2{\"a\":[1,\"b\"]}");
}

TEST_F(Pipe, ABadRecordIsRefusedWithItsLine) {
  const auto reason = [&](const std::string& text) -> std::string {
    own_.store.put_bytes("data", "m.jsonl", text);
    try {
      epoch({.uri = "s3://data/m.jsonl",
             .type = DataType::augmented_manifest,
             .attributes = {"image-ref"}});
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::Code::invalid_argument);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(reason("{\"image-ref\": \"s3://data/p/1\"}\n{\"x\": 1}\n"),
              testing::AllOf(testing::HasSubstr("line 2"), testing::HasSubstr("image-ref")));
  EXPECT_THAT(reason("[]"), testing::HasSubstr("line 1"));
  EXPECT_THAT(reason("{\"image-ref\": 7}"), testing::HasSubstr("not a string"));
  EXPECT_THAT(reason("{\"image-ref\": \"p/1\"}"), testing::HasSubstr("not an S3 URI"));
}

TEST_F(Pipe, EachEpochIsShuffledAnew) {
  const ChannelSource source{.uri = "s3://data/p/", .shuffle_seed = 3};
  std::set<std::string> orders;
  for (int k = 0; k < 8; ++k) {
    EXPECT_EQ(epoch(source, {.epoch = k}), epoch(source, {.epoch = k}));
    EXPECT_EQ(epoch(source, {.epoch = k}).size(), 9u);
    orders.insert(epoch(source, {.epoch = k}));
  }
  EXPECT_GT(orders.size(), 1u);
}

}  // namespace
}  // namespace meridian::s3
