// SPDX-License-Identifier: Apache-2.0
#include "control/queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"

namespace meridian::control {
namespace {

using std::chrono::milliseconds;

class WorkQueueTest : public testing::Test {
 protected:
  base::ManualClock clock;
  WorkQueue queue{clock, {.first = milliseconds(100), .most = milliseconds(1000)}};
};

TEST_F(WorkQueueTest, KeysComeInTheOrderOfTheirTimes) {
  queue.add_after("late", milliseconds(20));
  queue.add_after("early", milliseconds(10));
  EXPECT_EQ(queue.try_take(), std::nullopt);
  clock.advance(milliseconds(20));
  EXPECT_EQ(queue.try_take(), "early");
  EXPECT_EQ(queue.try_take(), "late");
  EXPECT_EQ(queue.try_take(), std::nullopt);
}

TEST_F(WorkQueueTest, AKeyIsWithAtMostOneWorker) {
  queue.add("k");
  ASSERT_EQ(queue.try_take(), "k");
  queue.add("k");
  EXPECT_EQ(queue.try_take(), std::nullopt);
}

TEST_F(WorkQueueTest, AKeyAddedWhileItIsTakenRunsOnceMoreAfterwards) {
  queue.add("k");
  ASSERT_EQ(queue.try_take(), "k");
  queue.add("k");
  queue.add("k");
  queue.succeeded("k");
  EXPECT_EQ(queue.try_take(), "k");
  queue.succeeded("k");
  EXPECT_EQ(queue.try_take(), std::nullopt);
  EXPECT_EQ(queue.size(), 0u);
}

TEST_F(WorkQueueTest, AKeyWaitsAtMostOnce) {
  queue.add("k");
  queue.add("k");
  EXPECT_EQ(queue.size(), 1u);
  ASSERT_EQ(queue.try_take(), "k");
  queue.succeeded("k");
  EXPECT_EQ(queue.try_take(), std::nullopt);
}

TEST_F(WorkQueueTest, AKeyAddedTwiceRunsAtTheEarlierTime) {
  queue.add_after("a", milliseconds(50));
  queue.add_after("a", milliseconds(10));
  queue.add_after("b", milliseconds(10));
  queue.add_after("b", milliseconds(50));
  clock.advance(milliseconds(10));
  EXPECT_EQ(queue.try_take(), "a");
  EXPECT_EQ(queue.try_take(), "b");
}

TEST_F(WorkQueueTest, TheEarlierOfAVerdictAndAnAddWins) {
  queue.add("k");
  ASSERT_EQ(queue.try_take(), "k");
  queue.add_after("k", milliseconds(70));
  queue.again_in("k", milliseconds(30));
  EXPECT_EQ(queue.next_due(), clock.ticks() + milliseconds(30));

  clock.advance(milliseconds(30));
  ASSERT_EQ(queue.try_take(), "k");
  queue.add_after("k", milliseconds(5));
  queue.failed("k");
  EXPECT_EQ(queue.next_due(), clock.ticks() + milliseconds(5));
}

TEST_F(WorkQueueTest, AFailedKeyComesBackLaterEachTimeUntilItSucceeds) {
  queue.add("k");
  for (const int delay : {100, 200, 400, 800, 1000, 1000}) {
    ASSERT_EQ(queue.try_take(), "k");
    queue.failed("k");
    EXPECT_EQ(queue.next_due(), clock.ticks() + milliseconds(delay));
    clock.advance(milliseconds(delay - 1));
    EXPECT_EQ(queue.try_take(), std::nullopt);
    clock.advance(milliseconds(1));
  }
  ASSERT_EQ(queue.try_take(), "k");
  queue.succeeded("k");
  queue.add("k");
  ASSERT_EQ(queue.try_take(), "k");
  queue.failed("k");
  EXPECT_EQ(queue.next_due(), clock.ticks() + milliseconds(100));
}

TEST_F(WorkQueueTest, AgainForgetsFailures) {
  queue.add("k");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(queue.try_take(), "k");
    queue.failed("k");
    clock.advance(milliseconds(1000));
  }
  ASSERT_EQ(queue.try_take(), "k");
  queue.again_in("k", milliseconds(0));
  ASSERT_EQ(queue.try_take(), "k");
  queue.failed("k");
  EXPECT_EQ(queue.next_due(), clock.ticks() + milliseconds(100));
}

TEST_F(WorkQueueTest, AnAddDuringBackOffRunsAtOnce) {
  queue.add("k");
  ASSERT_EQ(queue.try_take(), "k");
  queue.failed("k");
  queue.add("k");
  EXPECT_EQ(queue.try_take(), "k");
}

TEST_F(WorkQueueTest, AJumpOfTheWallClockMovesNoKey) {
  queue.add_after("k", milliseconds(50));
  clock.jump_wall_clock(milliseconds(1'000'000));
  EXPECT_EQ(queue.try_take(), std::nullopt);
  clock.jump_wall_clock(milliseconds(-2'000'000));
  clock.advance(milliseconds(50));
  EXPECT_EQ(queue.try_take(), "k");
}

TEST_F(WorkQueueTest, AVerdictOnAKeyThatNobodyTookIsAnError) {
  queue.add("k");
  EXPECT_THROW(queue.succeeded("k"), base::Error);
  EXPECT_EQ(queue.try_take(), "k");
}

TEST(Backoff, DoublesUpToItsLimitWithoutOverflow) {
  const Backoff backoff{milliseconds(200), milliseconds(60'000)};
  EXPECT_EQ(backoff.after(1), milliseconds(200));
  EXPECT_EQ(backoff.after(2), milliseconds(400));
  EXPECT_EQ(backoff.after(8), milliseconds(25'600));
  EXPECT_EQ(backoff.after(10), milliseconds(60'000));
  EXPECT_EQ(backoff.after(2'000'000'000), milliseconds(60'000));
}

TEST(WorkQueueThreads, WaitingEndsOnStopAndOnlyThen) {
  base::SystemClock clock;
  WorkQueue queue(clock);
  std::atomic<bool> returned = false;
  std::jthread waiter([&](std::stop_token stop) {
    EXPECT_EQ(queue.wait_take(stop), "k");
    EXPECT_EQ(queue.wait_take(stop), std::nullopt);
    returned = true;
  });
  queue.add_after("k", milliseconds(2));
  while (queue.next_due()) std::this_thread::yield();
  EXPECT_FALSE(returned);
  waiter.request_stop();
  waiter.join();
  EXPECT_TRUE(returned);
}

TEST(WorkQueueThreads, AnEarlierKeyWakesAWaiter) {
  base::SystemClock clock;
  WorkQueue queue(clock);
  queue.add_after("tomorrow", std::chrono::hours(24));
  std::optional<Key> taken;
  std::jthread waiter([&](std::stop_token stop) { taken = queue.wait_take(stop); });
  queue.add("now");
  waiter.join();
  EXPECT_EQ(taken, "now");
}

// Many adders and workers: no key is with two workers, and each sees the last version added.
TEST(WorkQueueThreads, RacingAddersAndWorkersLoseNothing) {
  constexpr int kKeys = 8, kAdds = 400;
  base::SystemClock clock;
  WorkQueue queue(clock, {.first = milliseconds(0), .most = milliseconds(1)});
  struct World {
    std::atomic<int> wanted = 0, seen = 0, inside = 0;
  };
  std::vector<World> world(kKeys);
  std::atomic<int> overlaps = 0;
  std::vector<std::jthread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&, seed = w](std::stop_token stop) {
      std::mt19937 random(seed);
      while (const auto key = queue.wait_take(stop)) {
        World& mine = world[std::stoul(*key)];
        if (mine.inside.fetch_add(1) != 0) ++overlaps;
        mine.seen = mine.wanted.load();
        mine.inside.fetch_sub(1);
        switch (random() % 3) {
          case 0: queue.failed(*key); break;
          default: queue.succeeded(*key);
        }
      }
    });
  }
  {
    std::vector<std::jthread> adders;
    for (int a = 0; a < 3; ++a) {
      adders.emplace_back([&] {
        for (int i = 0; i < kAdds; ++i) {
          ++world[i % kKeys].wanted;
          queue.add(std::to_string(i % kKeys));
        }
      });
    }
  }
  while (queue.size() > 0) std::this_thread::yield();
  for (auto& worker : workers) worker.request_stop();
  workers.clear();
  EXPECT_EQ(overlaps, 0);
  for (const World& w : world) EXPECT_EQ(w.seen.load(), w.wanted.load());
}

}  // namespace
}  // namespace meridian::control
