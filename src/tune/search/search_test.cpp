// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "tune/numeric/stream.h"
#include "tune/search/cma_es.h"
#include "tune/search/designs.h"
#include "tune/search/pareto.h"
#include "tune/search/population.h"
#include "tune/search/promotion.h"
#include "tune/search/tpe.h"

namespace meridian::tune {
namespace {

Problem cube(std::size_t dimensions, std::uint64_t seed = 1) {
  std::vector<Parameter> parameters;
  for (std::size_t d = 0; d < dimensions; ++d) {
    parameters.push_back({.name = std::string(1, static_cast<char>('a' + d)), .range = {0, 1}});
  }
  return {.space = Space(parameters), .seed = seed};
}

Trial trial_of(const Proposal& proposal) {
  Trial trial;
  trial.point = proposal.point;
  trial.budget = proposal.budget;
  trial.parent = proposal.parent;
  trial.member = proposal.member;
  return trial;
}

template <class F>
History play(Strategy& strategy, const Problem& problem, std::size_t trials, F value) {
  History history;
  for (std::size_t i = 0; i < trials; ++i) {
    const auto proposal = strategy.propose(problem, history);
    if (!proposal) break;
    history.add(trial_of(*proposal));
    history.tell(i, TrialState::complete, {value(history.trials()[i])});
  }
  return history;
}

TEST(Grid, ListsEveryCombinationInOrder) {
  const Problem problem{
      .space = Space({{.name = "a", .categories = {"x", "y"}},
                      {.name = "n", .range = {1, 2, Numbers::integer}},
                      {.name = "c", .range = {1, 100}, .scaling = Scaling::logarithmic}})};
  const auto grid = make_grid({.levels = 3});
  const History history = play(*grid, problem, 100, [](const Trial&) { return 1.0; });
  ASSERT_EQ(history.size(), 12u);
  EXPECT_EQ(history.trials()[0].point, (Point{0, 1, 1}));
  EXPECT_NEAR(history.trials()[1].point[2], 10, 1e-9);
  EXPECT_EQ(history.trials()[11].point, (Point{1, 2, 100}));
}

TEST(Grid, RefusesMoreThanItCanList) {
  const Problem problem{.space = Space({{.name = "n", .range = {1, 2e6, Numbers::integer}}})};
  EXPECT_THROW(make_grid()->propose(problem, History()), base::Error);
}

TEST(RandomSearch, FillsLogarithmicDecadesEvenly) {
  const Problem problem{
      .space = Space({{.name = "lr", .range = {1e-4, 1}, .scaling = Scaling::logarithmic}}),
      .seed = 5};
  const auto random = make_random();
  std::map<int, int> decades;
  const History history = play(*random, problem, 4000, [&](const Trial& t) {
    ++decades[static_cast<int>(std::floor(std::log10(t.point[0])))];
    return 1.0;
  });
  ASSERT_EQ(decades.size(), 4u);
  for (const auto& [decade, n] : decades) EXPECT_NEAR(n, 1000, 140) << decade;
}

TEST(Tpe, ComesCloserThanChance) {
  const auto bowl = [](const Trial& t) {
    double sum = 0;
    for (const double v : t.point) sum += (v - 0.3) * (v - 0.3);
    return sum;
  };
  double by_tpe = 0, by_chance = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Problem problem = cube(4, seed);
    const History a = play(*make_tpe(), problem, 60, bowl),
                  b = play(*make_random(), problem, 60, bowl);
    by_tpe += a.trials()[*find_best(problem, a)].values[0];
    by_chance += b.trials()[*find_best(problem, b)].values[0];
  }
  EXPECT_LT(by_tpe, 0.5 * by_chance);
}

TEST(CmaEs, ConvergesOnATurnedValley) {
  const auto valley = [](const Trial& t) {
    const double x = t.point[0] - 0.4, y = t.point[1] - 0.6, z = t.point[2] - 0.5;
    return 100 * std::pow(x + y + z, 2) + std::pow(x - y, 2) + z * z;
  };
  const Problem problem = cube(3);
  const auto strategy = make_cma_es();
  const History history = play(*strategy, problem, 500, valley);
  EXPECT_LT(history.trials()[*find_best(problem, history)].values[0], 1e-8);
}

TEST(CmaEs, TakesResultsInAnyOrder) {
  // Eight pending at a time, told last first.
  const Problem problem = cube(3);
  const auto strategy = make_cma_es();
  History history;
  for (int round = 0; round < 60; ++round) {
    const std::size_t first = history.size();
    for (int i = 0; i < 8; ++i) history.add(trial_of(*strategy->propose(problem, history)));
    for (std::size_t i = history.size(); i-- > first;) {
      double sum = 0;
      for (const double v : history.trials()[i].point) sum += (v - 0.25) * (v - 0.25);
      history.tell(i, TrialState::complete, {sum});
    }
  }
  EXPECT_LT(history.trials()[*find_best(problem, history)].values[0], 1e-6);
}

TEST(Promotion, TheBetterThirdGetsThreeTimesAsMuch) {
  const Problem problem = cube(1);
  const auto strategy = make_promotion({.least = 1, .largest = 9, .reduction = 3});
  const History history =
      play(*strategy, problem, 80, [](const Trial& t) { return t.point[0] + 0.1 / t.budget; });
  std::map<double, int> at;
  for (const Trial& trial : history.trials()) {
    ++at[trial.budget];
    if (trial.budget == 1) {
      EXPECT_FALSE(trial.parent);
      continue;
    }
    const Trial& parent = history.trials()[*trial.parent];
    EXPECT_EQ(parent.budget * 3, trial.budget);
    EXPECT_TRUE(same(parent.point, trial.point));
  }
  EXPECT_EQ(at.size(), 3u);
  EXPECT_NEAR(at[1] / double(at[3]), 3, 0.7);
  EXPECT_NEAR(at[3] / double(at[9]), 3, 0.9);
}

TEST(Promotion, DoesNotWaitForThoseThatRun) {
  const Problem problem = cube(1);
  const auto strategy = make_promotion();
  History history;
  for (int i = 0; i < 20; ++i) history.add(trial_of(*strategy->propose(problem, history)));
  EXPECT_EQ(history.size(), 20u);
  for (const Trial& trial : history.trials()) EXPECT_FALSE(trial.parent);
}

TEST(Population, TheLastCopiesFromTheFirst) {
  const Problem problem{.space = Space({{.name = "x", .range = {0, 1}}}), .seed = 3};
  const PopulationSettings settings{.members = 5, .stretches = 8};
  const auto strategy = make_population(settings);
  const auto height = [](const Trial& t) { return std::abs(t.point[0] - 0.7); };
  const History history = play(*strategy, problem, 100, height);
  ASSERT_EQ(history.size(), 40u);  // members times stretches, then it is through
  int copied = 0;
  double first = 0, last = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Trial& trial = history.trials()[i];
    if (i < 5) first += height(trial);
    if (i >= 35) last += height(trial);
    if (!trial.parent) continue;
    const Trial& parent = history.trials()[*trial.parent];
    EXPECT_GE(trial.budget, parent.budget);
    copied += parent.member != trial.member ? 1 : 0;
  }
  EXPECT_GT(copied, 2);
  EXPECT_LT(last, first);
}

TEST(Population, WaitsWhileEveryMemberRuns) {
  const Problem problem = cube(2);
  const auto strategy = make_population({.members = 3, .stretches = 2});
  History history;
  for (int i = 0; i < 3; ++i) history.add(trial_of(*strategy->propose(problem, history)));
  EXPECT_FALSE(strategy->propose(problem, history));
  history.tell(1, TrialState::failed, {});
  history.tell(2, TrialState::complete, {1});
  const auto next = strategy->propose(problem, history);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->member, 1u);
  EXPECT_EQ(next->parent, 2u);  // the only one with a value
}

TEST(Pareto, FindsWhatNothingDominates) {
  EXPECT_TRUE(dominates({1, 2}, {1, 3}));
  EXPECT_FALSE(dominates({1, 2}, {1, 2}));
  EXPECT_FALSE(dominates({1, 2}, {0, 3}));
  EXPECT_EQ(domination_ranks({{1, 4}, {2, 2}, {4, 1}, {3, 3}, {4, 4}}),
            (std::vector<std::size_t>{0, 0, 0, 1, 2}));
  Problem problem = cube(1);
  problem.directions = {Direction::minimize, Direction::maximize};
  History history;
  const std::vector<std::vector<double>> values = {{1, 1}, {2, 5}, {3, 4}, {0, 0}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    Trial trial;
    trial.point = {0.1 * static_cast<double>(i)};
    history.add(trial);
    history.tell(i, TrialState::complete, values[i]);
  }
  EXPECT_EQ(pareto_front(problem, history), (std::vector<std::size_t>{0, 1, 3}));
}

TEST(Pareto, TheHypervolumeIsThatOfTheUnionOfBoxes) {
  EXPECT_EQ(hypervolume({}, {1, 1}), 0);
  EXPECT_DOUBLE_EQ(hypervolume({{1, 3}, {2, 2}, {3, 1}}, {4, 4}), 6);
  EXPECT_DOUBLE_EQ(hypervolume({{1, 3}, {2, 2}, {3, 1}, {3, 3}, {5, 0}}, {4, 4}), 6);
  EXPECT_DOUBLE_EQ(hypervolume({{0, 0, 0}}, {1, 2, 3}), 6);
  // Against counting chance points, in four objectives.
  Stream stream({2});
  std::vector<Losses> points(12, Losses(4));
  for (Losses& p : points) {
    for (double& v : p) v = stream.uniform();
  }
  int hits = 0;
  constexpr int draws = 40'000;
  for (int i = 0; i < draws; ++i) {
    Losses at(4);
    for (double& v : at) v = stream.uniform();
    hits += std::ranges::any_of(points, [&](const Losses& p) { return dominates(p, at); }) ? 1 : 0;
  }
  EXPECT_NEAR(hypervolume(points, {1, 1, 1, 1}), hits / double(draws), 0.012);
}

}  // namespace
}  // namespace meridian::tune
