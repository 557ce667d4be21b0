// SPDX-License-Identifier: Apache-2.0
#include "tune/space/trial.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace meridian::tune {
namespace {

Problem line(Direction direction = Direction::minimize) {
  return {.space = Space({{.name = "x", .range = {0, 1}}}), .directions = {direction}};
}

std::size_t add(History& history, double x) {
  Trial trial;
  trial.point = {x};
  return history.add(trial);
}

TEST(History, AValueThatIsNotFiniteIsAFailedTrial) {
  for (const double value : {NAN, INFINITY, -INFINITY}) {
    History history;
    history.tell(add(history, 0.5), TrialState::complete, {value});
    EXPECT_EQ(history.trials()[0].state, TrialState::failed);
    EXPECT_TRUE(history.trials()[0].values.empty());
    EXPECT_EQ(history.told(), 1u);
    EXPECT_TRUE(history.has_seen({0.5}));
    EXPECT_FALSE(find_best(line(), history));
  }
}

TEST(History, KeepsTheOrderOfTells) {
  History history;
  for (const double x : {0.1, 0.2, 0.3}) add(history, x);
  history.tell(2, TrialState::complete, {1});
  history.tell(0, TrialState::failed, {});
  EXPECT_EQ(history.order(), (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(history.trials()[2].told, 1u);
  EXPECT_EQ(history.trials()[1].told, 0u);
}

TEST(History, ATrialEndsOnce) {
  History history;
  add(history, 0.1);
  history.tell(0, TrialState::complete, {1});
  EXPECT_THROW(history.tell(0, TrialState::complete, {2}), base::Error);
  EXPECT_THROW(history.report(0, {1, 2}), base::Error);
  EXPECT_THROW(history.tell(7, TrialState::complete, {2}), base::Error);
  EXPECT_EQ(history.trials()[0].values, std::vector<double>{1});
}

TEST(History, ReportsAreKeptByResource) {
  History history;
  add(history, 0.1);
  for (const double r : {3.0, 1.0, 2.0}) history.report(0, {r, -r});
  EXPECT_EQ(history.trials()[0].reports[0].resource, 1);
  EXPECT_EQ(history.trials()[0].reports[2].value, -3);
}

TEST(FindBest, PrefersFeasibleThenCompleteThenBetterThenEarlier) {
  History history;
  for (int i = 0; i < 5; ++i) add(history, 0.1 * i);
  history.tell(0, TrialState::complete, {0}, {1});  // infeasible
  EXPECT_EQ(find_best(line(), history), 0u);
  history.tell(1, TrialState::stopped, {1}, {0});
  EXPECT_EQ(find_best(line(), history), 1u);
  history.tell(2, TrialState::complete, {3}, {-1});
  EXPECT_EQ(find_best(line(), history), 2u);
  history.tell(4, TrialState::complete, {2}, {-1});
  history.tell(3, TrialState::complete, {2}, {-1});
  EXPECT_EQ(find_best(line(), history), 3u);
  EXPECT_EQ(find_best(line(Direction::maximize), history), 2u);
}

}  // namespace
}  // namespace meridian::tune
