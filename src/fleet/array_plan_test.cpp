// SPDX-License-Identifier: Apache-2.0
#include "fleet/array_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace meridian::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RowState state(RowPhase phase, std::string digest = "d", int attempt = 1) {
  return {.id = "x", .digest = std::move(digest), .phase = phase, .attempt = attempt};
}

TEST(OpenRun, RunsWhatIsNewChangedFailedOrStoppedOnce) {
  std::vector<RowState> states{state(RowPhase::succeeded),     state(RowPhase::succeeded, "old"),
                               state(RowPhase::failed),        state(RowPhase::stopped),
                               state(RowPhase::running),       state(RowPhase::running, "old"),
                               state(RowPhase::pending, "", 0)};
  const std::vector<RowPlan> plans(states.size(), RowPlan{.id = "x", .digest = "d"});
  EXPECT_THAT(open_run(states, plans), ElementsAre(1, 2, 3, 5));
  EXPECT_EQ(states[0].phase, RowPhase::succeeded);
  for (const int row : {1, 2, 3, 6}) EXPECT_EQ(states[row].phase, RowPhase::pending);
  EXPECT_FALSE(states[4].stopping);
  EXPECT_TRUE(states[5].stopping) << "superseded: stopped first, then run again";
}

TEST(Plan, NeverMoreAreActiveThanParallelism) {
  std::vector<RowState> states(10, state(RowPhase::pending));
  states[3].phase = RowPhase::running;
  EXPECT_THAT(plan(states, {.parallelism = 3}).launch, ElementsAre(0, 1));
}

TEST(Plan, AfterEnoughFailuresNothingIsStarted) {
  std::vector<RowState> states(4, state(RowPhase::pending));
  states[0].phase = RowPhase::failed;
  EXPECT_EQ(plan(states, {.parallelism = 9, .stop_after = 2}).launch.size(), 3u);
  states[1].phase = RowPhase::failed;
  EXPECT_THAT(plan(states, {.parallelism = 9, .stop_after = 2}).launch, IsEmpty());
  EXPECT_EQ(phase_of(states, {.parallelism = 9, .stop_after = 2}), ArrayPhase::failed);
}

TEST(Plan, ASuspendedOrDeletedArrayStopsWhatRuns) {
  std::vector<RowState> states{state(RowPhase::pending), state(RowPhase::running)};
  for (const Limits& limits :
       {Limits{.parallelism = 9, .suspend = true}, Limits{.parallelism = 9, .deleting = true}}) {
    const Todo todo = plan(states, limits);
    EXPECT_THAT(todo.launch, IsEmpty());
    EXPECT_THAT(todo.stop, ElementsAre(1));
  }
  states[1].secondary = "Stopping";
  EXPECT_THAT(plan(states, {.parallelism = 9, .suspend = true}).stop, IsEmpty());
}

TEST(Plan, AStepHasBoundedActsAndSaysThatMoreIsToDo) {
  const std::vector<RowState> states(40, state(RowPhase::pending));
  const Todo todo = plan(states, {.parallelism = 100, .at_once = 16});
  EXPECT_EQ(todo.launch.size(), 16u);
  EXPECT_TRUE(todo.more);
}

TEST(Plan, ALaunchInBackOffIsNotAskedBeforeItsTime) {
  std::vector<RowState> states{state(RowPhase::launching)};
  states[0].ask_after_ms = 1'000;
  EXPECT_THAT(plan(states, {.parallelism = 1, .now_ms = 999}).ask, IsEmpty());
  EXPECT_THAT(plan(states, {.parallelism = 1, .now_ms = 1'000}).ask, ElementsAre(0));
}

// Any history of children: counts add up, and no bound is ever passed.
TEST(Plan, CountsAreConsistentUnderRandomHistories) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::size_t rows = 1 + random() % 40, parallelism = 1 + random() % 10;
    std::vector<RowState> states(rows, state(RowPhase::pending, "d", 0));
    for (int step = 0; step < 400; ++step) {
      const Todo todo = plan(states, {.parallelism = parallelism});
      for (const std::size_t row : todo.launch) {
        ASSERT_EQ(states[row].phase, RowPhase::pending) << "seed " << seed;
        states[row].phase = RowPhase::launching;
        ++states[row].attempt;
      }
      ASSERT_LE(count(states).running, parallelism) << "seed " << seed;
      ASSERT_EQ(count(states).total(), rows) << "seed " << seed;
      RowState& child = states[random() % rows];
      if (child.phase == RowPhase::launching) child.phase = RowPhase::running;
      if (child.phase == RowPhase::running && random() % 2 == 0)
        child.phase = random() % 4 == 0 ? RowPhase::failed : RowPhase::succeeded;
    }
    const ArrayPhase phase = phase_of(states, {.parallelism = parallelism});
    EXPECT_EQ(phase == ArrayPhase::completed, count(states).succeeded == rows) << "seed " << seed;
    for (const RowState& s : states) EXPECT_LE(s.attempt, 1) << "seed " << seed;
  }
}

}  // namespace
}  // namespace meridian::fleet
