// SPDX-License-Identifier: Apache-2.0
#include "region/training/spot_policy.h"

#include <gmock/gmock.h>

namespace meridian::region::training {
namespace {

constexpr base::Duration kMinute{60'000}, kHour{3'600'000};

TEST(SpotTrace, RepeatsItself) {
  const SpotTrace trace = parse_spot_trace(R"({"metadata": {"gap_seconds": 60, "zone": "a"},
                                               "data": [3, 0, 5]})")
                              .value();
  EXPECT_EQ(trace.available_at(base::Duration(0)), 3);
  EXPECT_EQ(trace.available_at(base::Duration(59'999)), 3);
  EXPECT_EQ(trace.available_at(kMinute), 0);
  EXPECT_EQ(trace.available_at(base::Duration(4 * 60'000)), 0);
  EXPECT_EQ(trace.until_next_tick(base::Duration(61'000)), base::Duration(59'000));
}

TEST(SpotTrace, SaysWhatIsWrong) {
  for (const char* bad : {"[]", R"({"data": [1]})", R"({"metadata": {"gap_seconds": 0}})",
                          R"({"metadata": {"gap_seconds": 1}, "data": []})",
                          R"({"metadata": {"gap_seconds": 1}, "data": ["x"]})"})
    EXPECT_FALSE(parse_spot_trace(bad).ok()) << bad;
}

TEST(SpotPolicy, WithoutAnythingNeverReclaims) {
  EXPECT_FALSE(SpotPolicy().next_reclaim("job", 0));
}

TEST(SpotPolicy, TimesAreTakenInOrderAndThenNoMore) {
  const SpotPolicy policy{.reclaim_after = {kMinute, kHour}};
  EXPECT_EQ(policy.next_reclaim("job", 0), kMinute);
  EXPECT_EQ(policy.next_reclaim("job", 1), kHour);
  EXPECT_FALSE(policy.next_reclaim("job", 2));
}

TEST(SpotPolicy, ARateIsKeptOnAverageAndTheSameForTheSameAttempt) {
  const SpotPolicy policy{.reclaims_per_hour = 2};
  double hours = 0;
  constexpr int kJobs = 2000;
  for (int i = 0; i < kJobs; ++i) {
    const std::string uid = std::to_string(i);
    hours += static_cast<double>(policy.next_reclaim(uid, 0)->count()) / 3.6e6;
    EXPECT_EQ(policy.next_reclaim(uid, 1), policy.next_reclaim(uid, 1));
  }
  EXPECT_NEAR(hours / kJobs, 0.5, 0.05);
}

TEST(SpotPolicy, ReclaimsNoOftenerThanAllowed) {
  const SpotPolicy policy{.reclaims_per_hour = 100, .at_most = 1};
  EXPECT_TRUE(policy.next_reclaim("job", 0));
  EXPECT_FALSE(policy.next_reclaim("job", 1));
}

}  // namespace
}  // namespace meridian::region::training
