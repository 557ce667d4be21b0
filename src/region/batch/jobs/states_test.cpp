// SPDX-License-Identifier: Apache-2.0
#include "region/batch/jobs/states.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace meridian::region::batch {
namespace {

TEST(States, TenThousandUntouchedIndexesAreAWord) {
  EXPECT_EQ(States(10'000).text(), "S10000");
  States states(10'000, Status::runnable);
  states.set(4, Status::starting);
  EXPECT_EQ(states.text(), "R4 T1 R9995");
}

TEST(States, TextReadsBackWhateverHappened) {
  base::SeededRandom random(7);
  for (int round = 0; round < 200; ++round) {
    States states(1 + random.below(50));
    for (int move = 0; move < 100; ++move) {
      const std::size_t index = random.below(states.size());
      const auto to = static_cast<Status>(random.below(kStatuses));
      if (may_follow(states.at(index), to)) states.set(index, to);
    }
    const auto read = States::parse(states.text());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->text(), states.text());
    for (std::size_t status = 0; status < kStatuses; ++status)
      EXPECT_EQ(read->count(static_cast<Status>(status)),
                states.count(static_cast<Status>(status)));
  }
}

TEST(States, WhatIsNoStateTextIsRefused) {
  for (const char* text : {"", "S", "X3", "S0", "S10001", "S3  R1", "S-1", "S9999 R2"})
    EXPECT_FALSE(States::parse(text)) << text;
}

TEST(States, EveryStateIsReachableAndEndsAreFinal) {
  std::vector<bool> seen(kStatuses);
  std::vector<Status> open{Status::submitted};
  while (!open.empty()) {
    const Status from = open.back();
    open.pop_back();
    if (seen[static_cast<std::size_t>(from)]) continue;
    seen[static_cast<std::size_t>(from)] = true;
    for (std::size_t to = 0; to < kStatuses; ++to)
      if (may_follow(from, static_cast<Status>(to))) {
        EXPECT_FALSE(is_terminal(from));
        open.push_back(static_cast<Status>(to));
      }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<int>(kStatuses));
}

TEST(States, AnArrayIsOnlyEverSubmittedPendingOrEnded) {
  States states(3);
  EXPECT_EQ(status_of_array(states), Status::submitted);
  states.set(1, Status::runnable);
  EXPECT_EQ(status_of_array(states), Status::pending);
  states.set(1, Status::starting);
  states.set(1, Status::failed);
  EXPECT_EQ(status_of_array(states), Status::pending);
  for (int index : {0, 2}) {
    states.set(index, Status::runnable);
    states.set(index, Status::starting);
    states.set(index, Status::succeeded);
  }
  EXPECT_EQ(status_of_array(states), Status::failed);
}

}  // namespace
}  // namespace meridian::region::batch
