// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/duration.h"

#include <gtest/gtest.h>

namespace meridian::kube {
namespace {

TEST(Duration, ReadsWhatGoWrites) {
  const struct {
    const char* text;
    std::int64_t nanoseconds;
  } cases[] = {{"0", 0},
               {"0s", 0},
               {"1s", 1'000'000'000},
               {"1h30m", 5'400'000'000'000},
               {"-1.5s", -1'500'000'000},
               {"+.5s", 500'000'000},
               {"1.s", 1'000'000'000},
               {"250ms", 250'000'000},
               {"3us", 3'000},
               {"3µs", 3'000},
               {"1m1ns", 60'000'000'001}};
  for (const auto& c : cases) {
    const auto duration = parse_duration(c.text);
    ASSERT_TRUE(duration) << c.text;
    EXPECT_EQ(duration->count(), c.nanoseconds) << c.text;
  }
  for (const char* text : {"", "-", "1", "s", ".s", "1d", "1 s", "1sm", "1h-1m", "9999999h",
                           "99999999999999999999s", "1.5"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Duration, IsWrittenInSeconds) {
  using std::chrono::nanoseconds;
  EXPECT_EQ(duration_text(nanoseconds(0)), "0s");
  EXPECT_EQ(duration_text(std::chrono::minutes(90)), "5400s");
  EXPECT_EQ(duration_text(nanoseconds(-1'500'000'000)), "-1.5s");
  EXPECT_EQ(duration_text(nanoseconds(1)), "0.000000001s");
  EXPECT_EQ(duration_text(nanoseconds::min()), "-9223372036.854775808s");
}

}  // namespace
}  // namespace meridian::kube
