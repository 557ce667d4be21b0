// SPDX-License-Identifier: Apache-2.0
#include "tune/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "tune/numeric/stream.h"
#include "tune/strategies.h"

namespace meridian::tune {
namespace {

Space article_space() {
  Parameter momentum{.name = "momentum", .range = {0.9, 0.99}};
  momentum.when = Condition{"optimizer", {"sgd"}};
  return Space(
      {{.name = "lr", .range = {1e-4, 0.1}, .scaling = Scaling::logarithmic},
       {.name = "batch", .range = {8, 256, Numbers::integer}, .scaling = Scaling::logarithmic},
       {.name = "optimizer", .categories = {"sgd", "adam", "rmsprop"}},
       momentum});
}

double article_loss(const Point& p) {
  const double lr = std::log10(p[0]) + 2.5, batch = std::log2(p[1]) - 5;
  return lr * lr + 0.05 * batch * batch + (p[2] == 0 ? std::abs(p[3] - 0.95) * 10 : 0.3 * p[2]);
}

Problem article_problem(std::uint64_t seed = 1) { return {.space = article_space(), .seed = seed}; }

bool continues_trials(std::string_view strategy) { return strategy == "ASHA" || strategy == "PBT"; }

class EveryStrategy : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Names, EveryStrategy, testing::ValuesIn(strategy_names()),
                         [](const auto& info) {
                           std::string name(info.param);
                           std::erase(name, '-');
                           return name;
                         });

// Asks up to `parallel` at once and tells in an order that the seed shuffles.
void run(Study& study, std::size_t trials, std::size_t parallel, std::uint64_t seed,
         double (*value)(const Point&)) {
  Stream stream({seed, 99});
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < study.history().size(); ++i) {
    if (study.history().trials()[i].state == TrialState::pending) pending.push_back(i);
  }
  while (study.history().told() < trials) {
    while (pending.size() < parallel && study.history().size() < trials) {
      const auto trial = study.ask();
      if (!trial) break;
      pending.push_back(*trial);
    }
    if (pending.empty()) return;
    const std::size_t at = stream.below(pending.size());
    study.tell(pending[at], {.values = {value(study.point(pending[at]))}});
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

TEST_P(EveryStrategy, ProposesPointsOfTheSpaceAndNoneTwice) {
  Study study(article_problem(), GetParam());
  run(study, 60, 4, 1, article_loss);
  std::set<Point, PointOrder> distinct;
  for (const Trial& trial : study.history().trials()) {
    EXPECT_TRUE(study.problem().space.contains(trial.point));
    distinct.insert(trial.point);
  }
  EXPECT_EQ(study.history().size(), 60u);
  if (!continues_trials(GetParam())) {
    EXPECT_EQ(distinct.size(), 60u);
  }
}

TEST_P(EveryStrategy, ContinuesFromItsHistoryAsIfNothingHadHappened) {
  Study whole(article_problem(3), GetParam());
  for (const std::size_t until : {3, 17, 25, 40}) {
    run(whole, until, 3, 5, article_loss);
    if (!whole.ask()) continue;  // leaves one pending
    Study restarted(article_problem(3), GetParam(), whole.history());
    for (int i = 0; i < 3; ++i) {
      const auto expected = whole.ask(), found = restarted.ask();
      ASSERT_EQ(expected, found);
      if (!expected) break;
      EXPECT_TRUE(same(whole.point(*expected), restarted.point(*found))) << until;
      for (Study* study : {&whole, &restarted})
        study->tell(*expected, {.values = {article_loss(study->point(*expected))}});
    }
  }
}

TEST_P(EveryStrategy, TheSeedDecides) {
  const auto play = [&](std::uint64_t seed) {
    Study study(article_problem(seed), GetParam());
    run(study, 25, 2, 1, article_loss);
    std::vector<Point> points;
    for (const Trial& trial : study.history().trials()) points.push_back(trial.point);
    return points;
  };
  const auto a = play(1), b = play(1), c = play(2);
  EXPECT_TRUE(std::ranges::equal(a, b, same));
  if (GetParam() != "Grid") {
    EXPECT_FALSE(std::ranges::equal(a, c, same));
  }
}

TEST_P(EveryStrategy, GoesOnWhenHalfTheTrialsReportNoNumber) {
  Study study(article_problem(), GetParam());
  const double strange[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308};
  for (std::size_t i = 0; i < 40; ++i) {
    const auto trial = study.ask();
    if (!trial) break;
    EXPECT_TRUE(study.problem().space.contains(study.point(*trial)));
    study.tell(*trial,
               {.values = {i % 2 == 0 ? strange[i / 2 % 5] : article_loss(study.point(*trial))}});
    EXPECT_NE(study.history().trials()[*trial].state, TrialState::pending);
  }
  EXPECT_TRUE(study.best());
}

TEST_P(EveryStrategy, GoesOnWhenEveryTrialFails) {
  Study study(article_problem(), GetParam());
  for (int i = 0; i < 30; ++i) {
    if (const auto trial = study.ask()) study.tell(*trial, {});
  }
  EXPECT_FALSE(study.best());
  EXPECT_GE(study.history().size(), 30u);
}

TEST_P(EveryStrategy, TriesEveryPointOfASmallSpaceBeforeAnyTwice) {
  const Space space(
      {{.name = "a", .range = {1, 4, Numbers::integer}}, {.name = "b", .categories = {"x", "y"}}});
  Study study({.space = space, .seed = 4}, GetParam());
  std::vector<std::size_t> pending;
  std::set<Point, PointOrder> distinct;
  for (int i = 0; i < 8; ++i) {
    const auto trial = study.ask();
    ASSERT_TRUE(trial);
    distinct.insert(study.point(*trial));
    pending.push_back(*trial);
    if (pending.size() < 3) continue;
    for (const std::size_t t : pending) study.tell(t, {.values = {study.point(t)[0]}});
    pending.clear();
  }
  if (continues_trials(GetParam())) {
    // The same point again only to go on from a checkpoint.
    std::set<Point, PointOrder> before;
    for (const Trial& trial : study.history().trials()) {
      EXPECT_TRUE(before.insert(trial.point).second || trial.parent);
    }
    return;
  }
  EXPECT_EQ(distinct.size(), 8u);
  const auto more = study.ask();
  EXPECT_EQ(more.has_value(), GetParam() != "Grid");  // a grid is through; others try again
}

TEST_P(EveryStrategy, BearsASpaceOfOnePointAndOneWithoutParameters) {
  for (const auto& parameters : std::vector<std::vector<Parameter>>{
           {{.name = "n", .range = {5, 5, Numbers::integer}}}, {}}) {
    Study study({.space = Space(parameters)}, GetParam());
    for (int i = 0; i < 12; ++i) {
      if (const auto trial = study.ask()) study.tell(*trial, {.values = {1}});
    }
    EXPECT_TRUE(study.best());
  }
}

TEST(Study, BayesianSearchDoesNotDependOnUnitsOrDirection) {
  const auto play = [](double scale, double shift, Direction direction) {
    Study study({.space = article_space(), .directions = {direction}, .seed = 6}, "Bayesian");
    for (int i = 0; i < 16; ++i) {
      const auto trial = study.ask();
      study.tell(*trial, {.values = {scale * article_loss(study.point(*trial)) + shift}});
    }
    return study;
  };
  const Study a = play(1, 0, Direction::minimize), b = play(-1, 0, Direction::maximize),
              c = play(1024, 0, Direction::minimize);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(same(a.point(i), b.point(i))) << i;
    EXPECT_TRUE(same(a.point(i), c.point(i))) << i;  // a power of two: no digit is rounded
  }
}

TEST(Study, ModelsBeatChanceOnTheArticlesSpace) {
  double chance = 0, bayesian = 0, tpe = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto best = [&](std::string_view strategy) {
      Study study(article_problem(seed), strategy);
      run(study, 32, 8, seed, article_loss);
      return article_loss(study.point(*study.best()));
    };
    chance += best("Random") / 5;
    bayesian += best("Bayesian") / 5;
    tpe += best("TPE") / 5;
  }
  EXPECT_LT(bayesian, 0.5 * chance);
  EXPECT_LT(tpe, chance);
}

TEST(Study, AStoppedTrialStandsWithItsLastReport) {
  Study study(article_problem(), "Random");
  for (int i = 0; i < 2; ++i) study.ask();
  study.report(0, 1, 0.7);
  study.report(0, 2, 0.6);
  study.report(0, 3, NAN);  // ignored
  study.tell_stopped(0);
  study.tell_stopped(1);
  EXPECT_EQ(study.history().trials()[0].state, TrialState::stopped);
  EXPECT_EQ(study.history().trials()[0].values, std::vector<double>{0.6});
  EXPECT_EQ(study.history().trials()[1].state, TrialState::failed);
}

TEST(Study, RefusesWhatDoesNotFitTheProblem) {
  EXPECT_THROW(Study(article_problem(), "Magic"), base::Error);
  EXPECT_THROW(Study({.space = article_space(), .directions = {}}, "Random"), base::Error);
  EXPECT_THROW(Study(article_problem(), "Random", History({{.point = {1, 2, 3}, .values = {1}}})),
               base::Error);
  Study study(article_problem(), "Random");
  study.ask();
  EXPECT_THROW(study.tell(0, {.values = {1, 2}}), base::Error);
  EXPECT_THROW(study.tell(0, {.values = {1}, .constraints = {0}}), base::Error);
  EXPECT_THROW(study.tell(1, {.values = {1}}), base::Error);
}

}  // namespace
}  // namespace meridian::tune
