// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/log_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "region/telemetry/put_message.h"

namespace meridian::region::telemetry {
namespace {

class LogReaderTest : public testing::Test {
 protected:
  LogReaderTest() {
    stream.kind = StreamRecord::Kind::instance;
    stream.file = directory.path() / "log";
  }
  void add(std::int64_t ms, const std::string& message) {
    text += std::to_string(ms) + " - " + message + "\n";
  }
  void write() { base::write_file(stream.file, text); }
  static std::string joined(const EventSlice& slice) {
    std::string out;
    for (const auto& event : slice.events) out += (out.empty() ? "" : "|") + event.message;
    return out;
  }

  base::TempDir directory;
  StreamRecord stream;
  std::string text;
};

TEST_F(LogReaderTest, ForwardsInPiecesSeesEachEventOnce) {
  for (int i = 0; i < 7; ++i) add(1000 + i, std::to_string(i));
  write();
  EventBounds three;
  three.events = 3;
  auto slice = read_events(stream, 0, three);
  EXPECT_EQ(joined(slice), "0|1|2");
  EXPECT_TRUE(slice.more);
  slice = read_events(stream, slice.end, three);
  EXPECT_EQ(joined(slice), "3|4|5");
  slice = read_events(stream, slice.end, three);
  EXPECT_EQ(joined(slice), "6");
  EXPECT_FALSE(slice.more);
  EXPECT_EQ(slice.end, text.size());
  EXPECT_EQ(read_events(stream, slice.end, three).end, slice.end);
}

TEST_F(LogReaderTest, BackwardsInPiecesSeesEachEventOnce) {
  for (int i = 0; i < 7; ++i) add(1000 + i, std::to_string(i));
  write();
  EventBounds three;
  three.events = 3;
  auto slice = read_events_before(stream, end_of_events(stream), three);
  EXPECT_EQ(joined(slice), "4|5|6");
  slice = read_events_before(stream, slice.begin, three);
  EXPECT_EQ(joined(slice), "1|2|3");
  slice = read_events_before(stream, slice.begin, three);
  EXPECT_EQ(joined(slice), "0");
  EXPECT_EQ(slice.begin, 0u);
  EXPECT_EQ(read_events_before(stream, 0, three).begin, 0u);
}

TEST_F(LogReaderTest, LargeFilesAreWalkedBothWays) {
  const std::string padding(1000, 'x');
  for (int i = 0; i < 2500; ++i) add(i, padding + std::to_string(i));
  write();
  std::size_t forwards = 0, backwards = 0;
  std::uint64_t at = 0;
  while (true) {
    const auto slice = read_events(stream, at, {});
    if (slice.events.empty()) break;
    EXPECT_EQ(slice.events.front().at.ms, static_cast<std::int64_t>(forwards));
    forwards += slice.events.size();
    at = slice.end;
  }
  at = end_of_events(stream);
  EXPECT_EQ(at, text.size());
  while (at > 0) {
    const auto slice = read_events_before(stream, at, {});
    backwards += slice.events.size();
    EXPECT_EQ(slice.events.front().at.ms, static_cast<std::int64_t>(2500 - backwards));
    at = slice.begin;
  }
  EXPECT_EQ(forwards, 2500u);
  EXPECT_EQ(backwards, 2500u);
}

TEST_F(LogReaderTest, APageHoldsAMegabyteOrOneEvent) {
  for (int i = 0; i < 5; ++i) add(i, std::string(250'000, 'a' + i));
  write();
  EXPECT_EQ(read_events(stream, 0, {}).events.size(), 4u);
  EventBounds tiny;
  tiny.bytes = 10;
  EXPECT_EQ(read_events(stream, 0, tiny).events.size(), 1u);
  EXPECT_EQ(read_events_before(stream, text.size(), tiny).events.size(), 1u);
}

TEST_F(LogReaderTest, ARecordLongerThanTheBoundIsStillRead) {
  stream.kind = StreamRecord::Kind::put;
  add(1, encode_put_message({{1}, std::string(300'000, '\n')}));
  add(2, encode_put_message({{1}, "next"}));
  write();
  EventBounds small;
  small.bytes = 1000;
  const auto slice = read_events(stream, 0, small);
  ASSERT_EQ(slice.events.size(), 1u);
  EXPECT_EQ(slice.events[0].message.size(), 300'000u);
  EXPECT_EQ(joined(read_events(stream, slice.end, small)), "next");
}

TEST_F(LogReaderTest, ATornEndWaitsForItsRest) {
  add(1, "whole");
  text += "2 - torn";
  write();
  EXPECT_EQ(joined(read_events(stream, 0, {})), "whole");
  EXPECT_EQ(end_of_events(stream), 10u);
  EXPECT_EQ(joined(read_events_before(stream, end_of_events(stream), {})), "whole");
  text += " no more\n";
  write();
  EXPECT_EQ(joined(read_events(stream, 10, {})), "torn no more");
}

TEST_F(LogReaderTest, OnlyEventsWithinTheTimesAreShown) {
  for (int i = 0; i < 6; ++i) add(100 * i, std::to_string(i));
  write();
  EventBounds bounds;
  bounds.from = {100};
  bounds.to = {400};
  EXPECT_EQ(joined(read_events(stream, 0, bounds)), "1|2|3");
  EXPECT_EQ(joined(read_events_before(stream, text.size(), bounds)), "1|2|3");
}

TEST_F(LogReaderTest, ATimeIsFoundWithoutReadingTheWhole) {
  const std::string padding(2000, 'x');
  for (int i = 0; i < 2000; ++i) add(i, padding);
  write();
  for (const int wanted : {0, 1000, 1999, 9999}) {
    const std::uint64_t from = find_time(stream, {wanted});
    EventBounds bounds;
    bounds.from = {wanted};
    bounds.events = 3;
    const auto found = read_events(stream, from, bounds), all = read_events(stream, 0, bounds);
    ASSERT_EQ(found.events.size(), all.events.size()) << wanted;
    for (std::size_t i = 0; i < all.events.size(); ++i)
      ASSERT_EQ(found.events[i].offset, all.events[i].offset);
  }
  EXPECT_GT(find_time(stream, {1999}), 1'000'000u);
  stream.ordered = false;
  EXPECT_EQ(find_time(stream, {1999}), 0u);
}

TEST_F(LogReaderTest, NoFileIsNoEvents) {
  EXPECT_EQ(joined(read_events(stream, 0, {})), "");
  EXPECT_EQ(end_of_events(stream), 0u);
  EXPECT_EQ(find_time(stream, {5}), 0u);
}

TEST_F(LogReaderTest, CloudWatchsFaceEscapesProgramOutput) {
  add(1, "a\tb\xff");
  write();
  EXPECT_EQ(joined(read_events(stream, 0, {})), "a#011b\xEF\xBF\xBD");
  EventBounds raw;
  raw.face = EventBounds::Face::raw;
  EXPECT_EQ(joined(read_events(stream, 0, raw)), "a\tb\xff");
}

TEST(PutMessage, AnyTextComesBack) {
  for (const std::string message :
       {"", "plain", "two\nlines\r\n", "back\\slash\\n", "\\", "\\\\n\n", "tab\there"}) {
    const std::string stored = encode_put_message({{1234}, message});
    EXPECT_EQ(stored.find('\n'), std::string::npos);
    const PutMessage back = decode_put_message(stored);
    EXPECT_EQ(back.message, message);
    EXPECT_EQ(back.ingested.ms, 1234);
  }
  EXPECT_EQ(decode_put_message("damaged").message, "damaged");
  EXPECT_EQ(decode_put_message("").message, "");
}

}  // namespace
}  // namespace meridian::region::telemetry
