// SPDX-License-Identifier: Apache-2.0
#include "tune/search/early_stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tune/numeric/stream.h"

namespace meridian::tune {
namespace {

Problem line(Direction direction = Direction::minimize) {
  return {.space = Space({{.name = "x", .range = {0, 1}}}), .directions = {direction}, .seed = 1};
}

std::size_t add(History& history, const std::vector<double>& curve) {
  Trial trial;
  trial.point = {0.5};
  const std::size_t number = history.add(trial);
  for (std::size_t i = 0; i < curve.size(); ++i)
    history.report(number, {static_cast<double>(i + 1), curve[i]});
  return number;
}

void complete(History& history, const std::vector<double>& curve) {
  const std::size_t number = add(history, curve);
  history.tell(number, TrialState::complete, {curve.back()});
}

TEST(MedianRule, StopsWhatIsWorseThanTheMedianOfRunningAverages) {
  History history;
  for (const double level : {1.0, 2.0, 3.0, 4.0, 5.0})
    complete(history, {level + 2, level, level - 2});
  const auto rule = make_median_rule();
  // Running averages up to resource 2: level + 1, with median 4.
  EXPECT_TRUE(rule->find_reason(line(), history, add(history, {0, 4.1})));
  EXPECT_FALSE(rule->find_reason(line(), history, add(history, {9, 4.0})));
  EXPECT_FALSE(rule->find_reason(line(), history, add(history, {})));
}

TEST(MedianRule, TurnsWithTheDirection) {
  History history;
  for (const double level : {1.0, 2.0, 3.0, 4.0, 5.0}) complete(history, {level});
  const auto rule = make_median_rule();
  EXPECT_TRUE(rule->find_reason(line(Direction::maximize), history, add(history, {2.9})));
  EXPECT_FALSE(rule->find_reason(line(Direction::maximize), history, add(history, {3.1})));
}

TEST(MedianRule, WaitsForEnoughTrialsThatGotAsFar) {
  History history;
  for (int i = 0; i < 4; ++i) complete(history, {1, 1});
  complete(history, {1});
  const auto rule = make_median_rule();
  const std::size_t bad = add(history, {9, 9});
  EXPECT_FALSE(rule->find_reason(line(), history, bad));  // only four reached resource 2
  complete(history, {1, 1});
  EXPECT_TRUE(rule->find_reason(line(), history, bad));
  EXPECT_FALSE(make_median_rule({.least_resource = 2})->find_reason(line(), history, bad));
}

TEST(HalvingRule, LetsTheBestThirdPassEachRung) {
  const HyperbandSettings settings{
      .least = 1, .largest = 9, .reduction = 3, .single_bracket = true};
  EXPECT_EQ(rungs_of(settings, 0), (std::vector<double>{1, 3}));
  const auto rule = make_halving_rule(settings);
  History history;
  for (int i = 0; i < 9; ++i) add(history, {static_cast<double>(i)});
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(rule->find_reason(line(), history, i).has_value(), i >= 3) << i;
    EXPECT_EQ(rule->find_reason(line(Direction::maximize), history, i).has_value(), i < 6) << i;
  }
}

TEST(HalvingRule, EndsATrialThatGotAllItsResource) {
  const auto rule = make_halving_rule({.least = 1, .largest = 3, .reduction = 3});
  History history;
  EXPECT_THAT(*rule->find_reason(line(), history, add(history, {1, 1, 1})),
              testing::HasSubstr("whole resource"));
}

TEST(HalvingRule, BracketsHaveHyperbandsProportions) {
  const HyperbandSettings settings{.least = 1, .largest = 81, .reduction = 3};
  int counts[5] = {};
  for (std::size_t i = 0; i < 14'300; ++i) ++counts[bracket_of(settings, 7, i)];
  // The table of the paper for R = 81: 81, 34, 15, 8, 5 (ceilings).
  const double expected[] = {81, 34, 15, 8, 5};
  for (int b = 0; b < 5; ++b) EXPECT_NEAR(counts[b], 100 * expected[b], 350) << b;
  EXPECT_EQ(rungs_of(settings, 4).size(), 0u);
  EXPECT_EQ(rungs_of(settings, 0), (std::vector<double>{1, 3, 9, 27}));
}

TEST(HalvingRule, SpendsFarLessForAGoodTrial) {
  // Curves that fall to a level: 200 trials to 27 epochs each, stopped by the rule or not.
  const HyperbandSettings settings{.least = 1, .largest = 27, .reduction = 3};
  const auto rule = make_halving_rule(settings);
  const Problem problem = line();
  History history;
  Stream stream({3});
  double best = 1, best_found = 1, spent = 0;
  for (int i = 0; i < 200; ++i) {
    const double level = stream.uniform();
    const std::size_t number = add(history, {});
    double value = 0;
    for (int epoch = 1; epoch <= 27; ++epoch) {
      value = level + std::exp(-epoch / 3.0) + 0.01 * stream.normal();
      history.report(number, {static_cast<double>(epoch), value});
      ++spent;
      if (rule->find_reason(problem, history, number)) break;
    }
    best = std::min(best, level);
    if (history.trials()[number].reports.back().resource == 27)
      best_found = std::min(best_found, level);
    history.tell(number, TrialState::stopped, {value});
  }
  EXPECT_LT(spent, 0.35 * 200 * 27);
  EXPECT_LT(best_found, best + 0.05);
}

TEST(HalvingRule, RefusesSettingsThatCannotBe) {
  EXPECT_THROW(make_halving_rule({.least = 0}), base::Error);
  EXPECT_THROW(make_halving_rule({.least = 9, .largest = 3}), base::Error);
  EXPECT_THROW(make_halving_rule({.reduction = 1}), base::Error);
  EXPECT_THROW(make_halving_rule({.largest = INFINITY}), base::Error);
}

}  // namespace
}  // namespace meridian::tune
