// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

namespace meridian::base {
namespace {

constexpr Timestamp kTime{1'769'860'800'123};  // 2026-01-31T12:00:00.123Z

TEST(Clock, TimesAreWrittenInEveryFormWeNeed) {
  EXPECT_EQ(format_iso8601(kTime), "2026-01-31T12:00:00.123Z");
  EXPECT_EQ(format_iso8601_seconds(kTime), "2026-01-31T12:00:00Z");
  EXPECT_EQ(format_amz_date(kTime), "20260131T120000Z");
  EXPECT_EQ(format_http_date(kTime), "Sat, 31 Jan 2026 12:00:00 GMT");
  EXPECT_EQ(format_iso8601({-1}), "1969-12-31T23:59:59.999Z");
}

TEST(Clock, EveryFormIsReadBack) {
  for (const char* text :
       {"2026-01-31T12:00:00.123Z", "2026-01-31 12:00:00.123", "2026-01-31T13:30:00.123+01:30",
        "2026-01-31T07:00:00.123-0500", "2026-01-31T12:00:00.123999Z"}) {
    const auto time = parse_iso8601(text);
    ASSERT_TRUE(time.ok()) << text;
    EXPECT_EQ(*time, kTime) << text;
  }
  EXPECT_EQ(*parse_iso8601("20260131T120000Z"), Timestamp{1'769'860'800'000});
  EXPECT_EQ(*parse_iso8601("2026-01-31"), Timestamp{1'769'817'600'000});
  EXPECT_EQ(*parse_http_date("Sat, 31 Jan 2026 12:00:00 GMT"), Timestamp{1'769'860'800'000});
  for (std::int64_t ms = -5'000'000'000'000; ms < 5'000'000'000'000; ms += 98'765'432'101) {
    EXPECT_EQ(*parse_iso8601(format_iso8601({ms})), Timestamp{ms});
  }
}

TEST(Clock, WhatIsNoTimeIsRefused) {
  for (const char* text :
       {"", "2026", "2026-13-01", "2026-00-10", "2026-01-32", "2026-02-29", "2026-04-31",
        "2026-01-31T", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z", "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00Zx", "2026-01-31T12:00:00+99:99", "2026-1-31", "yesterday"}) {
    EXPECT_FALSE(parse_iso8601(text).ok()) << text;
  }
  EXPECT_TRUE(parse_iso8601("2024-02-29").ok());
  EXPECT_FALSE(parse_http_date("31 Jan 2026").ok());
  EXPECT_FALSE(parse_http_date("Sat, 31 Jan 2026 12:00:00 GMT and more").ok());
}

TEST(Clock, AManualClockMovesOnlyWhenTold) {
  ManualClock clock({1000});
  const Ticks start = clock.ticks();
  clock.advance(Duration(250));
  EXPECT_EQ(clock.now(), Timestamp{1250});
  EXPECT_EQ(clock.ticks() - start, Duration(250));
}

TEST(Clock, AJumpOfTheWallClockLeavesTicksAlone) {
  ManualClock clock({1000});
  const Ticks start = clock.ticks();
  clock.jump_wall_clock(Duration(-500));
  EXPECT_EQ(clock.now(), Timestamp{500});
  EXPECT_EQ(clock.ticks(), start);
}

TEST(Clock, TheSystemClockDoesNotRunBackwards) {
  const SystemClock clock;
  const Ticks before = clock.ticks();
  EXPECT_GE(clock.ticks(), before);
  EXPECT_GT(clock.now(), Timestamp{1'700'000'000'000});
}

TEST(Clock, DurationsAreShownForPeople) {
  EXPECT_EQ(format_duration(Duration(12)), "12ms");
  EXPECT_EQ(format_duration(Duration(8'250)), "8.2s");
  EXPECT_EQ(format_duration(Duration(187'000)), "3m07s");
  EXPECT_EQ(format_duration(Duration(3'720'000)), "1h02m");
}

}  // namespace
}  // namespace meridian::base
