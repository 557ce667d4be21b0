// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tune/bayes/acquisition.h"
#include "tune/bayes/bayesian.h"
#include "tune/bayes/climb.h"
#include "tune/bayes/surrogate.h"
#include "tune/bayes/trust_region.h"
#include "tune/numeric/normal.h"
#include "tune/numeric/stream.h"
#include "tune/search/pareto.h"

namespace meridian::tune {
namespace {

const Layout square = {Coordinate::number, Coordinate::number};

GaussianProcess some_model(std::uint64_t seed) {
  Stream stream({seed});
  Rows rows{2, {}};
  std::vector<double> y;
  for (int i = 0; i < 8; ++i) {
    rows.add(std::vector<double>{stream.uniform(), stream.uniform()});
    y.push_back(stream.normal());
  }
  return GaussianProcess(square, {{0.3, 0.5}, 1, 1e-4}, rows, y);
}

TEST(Acquisition, IsTheLogarithmOfTheExpectedImprovement) {
  const GaussianProcess model = some_model(1);
  const Acquisition acquisition{.objective = &model, .best = 0.3};
  const std::vector<double> x{0.4, 0.6};
  const Prediction p = model.predict(x);
  // By integration over the normal distribution.
  double sum = 0;
  const double s = std::sqrt(p.variance);
  constexpr int steps = 20'000;
  for (int i = 0; i < steps; ++i) {
    const double z = -8 + 16 * (i + 0.5) / steps;
    sum += std::max(0.0, 0.3 - (p.mean + s * z)) * normal_pdf(z) * 16 / steps;
  }
  EXPECT_NEAR(acquisition(x, {}), std::log(sum), 1e-6);
}

TEST(Acquisition, ItsGradientIsItsDerivativeWithAllItsTerms) {
  const GaussianProcess model = some_model(1), limit = some_model(2), cost = some_model(3);
  const Acquisition acquisition{&model, -0.5, {{&limit, 0.2}}, &cost, 0.7};
  Stream stream({4});
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> x{stream.uniform(), stream.uniform()}, gradient(2);
    const double here = acquisition(x, gradient);
    EXPECT_NEAR(here, acquisition(Rows{2, x})[0], 1e-12);
    for (std::size_t d = 0; d < 2; ++d) {
      const double step = 1e-6, at = x[d];
      x[d] = at + step;
      const double up = acquisition(x, {});
      x[d] = at - step;
      const double down = acquisition(x, {});
      x[d] = at;
      EXPECT_NEAR(gradient[d], (up - down) / (2 * step), 1e-4 * (1 + std::abs(gradient[d])));
    }
  }
}

TEST(Climb, ReachesTheHighestPointOfAFineGrid) {
  const Space space({{.name = "x", .range = {0, 1}}, {.name = "y", .range = {0, 1}}});
  for (std::uint64_t seed = 1; seed < 8; ++seed) {
    const GaussianProcess model = some_model(seed);
    const Acquisition acquisition{.objective = &model, .best = -0.5};
    const auto summit = climb(space, acquisition, {{0, 0}, {1, 1}}, model.rows(),
                              [](const Point&) { return true; }, {.key = seed});
    ASSERT_TRUE(summit);
    double highest = -1e300;
    for (int i = 0; i <= 100; ++i) {
      for (int j = 0; j <= 100; ++j)
        highest = std::max(highest, acquisition(std::vector<double>{i / 100.0, j / 100.0}, {}));
    }
    EXPECT_GT(summit->value, highest - 1e-3);
  }
}

TEST(Climb, StaysInItsBox) {
  const Space space({{.name = "x", .range = {0, 1}}, {.name = "y", .range = {0, 1}}});
  const GaussianProcess model = some_model(2);
  const Acquisition acquisition{.objective = &model, .best = -0.5};
  const Rows base{2, {0.5, 0.5}};
  const auto summit = climb(space, acquisition, {{0.4, 0.45}, {0.6, 0.55}}, base,
                            [](const Point&) { return true; }, {});
  ASSERT_TRUE(summit);
  EXPECT_GE(summit->point[0], 0.4);
  EXPECT_LE(summit->point[0], 0.6);
  EXPECT_GE(summit->point[1], 0.45);
  EXPECT_LE(summit->point[1], 0.55);
}

TEST(Surrogates, FitsHappenOnAFixedSequence) {
  std::size_t last = 0, fits = 0;
  for (std::size_t n = 1; n <= 1000; ++n) {
    const std::size_t at = fitted_at(n);
    EXPECT_LE(at, n);
    EXPECT_GE(at, last);
    EXPECT_GE(at * 16, n * 15 - 15);
    fits += at != last ? 1 : 0;
    last = at;
  }
  EXPECT_EQ(fitted_at(30), 30u);
  EXPECT_LT(fits, 120u);
}

TEST(TrustRegion, ShrinksAfterFailuresAndGrowsAfterSuccesses) {
  const std::vector<double> one{5};
  EXPECT_EQ(trust_length(one, 10), 0.8);
  std::vector<double> losses{5};
  for (int i = 0; i < 10; ++i) losses.push_back(6);
  EXPECT_EQ(trust_length(losses, 10), 0.4);
  for (int i = 0; i < 3; ++i) losses.push_back(4 - i);
  EXPECT_EQ(trust_length(losses, 10), 0.8);
  for (int i = 0; i < 1000; ++i) losses.push_back(9);
  const double length = trust_length(losses, 10);
  EXPECT_GE(length, 1.0 / 128);
  EXPECT_LE(length, 1.6);
}

TEST(TrustRegion, TheBoxHasItsVolumeAndLiesInTheCube) {
  const std::vector<double> centre{0.5, 0.5}, scales{1, 4};
  const Box box = trust_box(centre, scales, 0.1);
  EXPECT_NEAR((box.upper[0] - box.lower[0]) * (box.upper[1] - box.lower[1]), 0.01, 1e-12);
  EXPECT_NEAR((box.upper[1] - box.lower[1]) / (box.upper[0] - box.lower[0]), 4, 1e-9);
  const Box corner = trust_box(std::vector<double>{0, 1}, scales, 0.5);
  EXPECT_EQ(corner.lower[0], 0);
  EXPECT_EQ(corner.upper[1], 1);
}

Problem bowl_problem(std::size_t constraints = 0,
                     std::vector<Direction> directions = {Direction::minimize}) {
  return {.space = Space({{.name = "x", .range = {0, 1}}, {.name = "y", .range = {0, 1}}}),
          .directions = std::move(directions),
          .constraints = constraints,
          .seed = 1};
}

struct Told {
  std::vector<double> values, constraints;
  double cost = 0;
};

template <class F>
History play(const Problem& problem, std::size_t trials, F outcome_of,
             const BayesianSettings& settings = {}, History history = History()) {
  const auto strategy = make_bayesian(settings);
  for (std::size_t i = 0; i < trials; ++i) {
    Trial trial;
    trial.point = strategy->propose(problem, history)->point;
    history.add(trial);
    Told told = outcome_of(trial.point);
    history.tell(i, TrialState::complete, told.values, told.constraints, told.cost);
  }
  return history;
}

double bowl(const Point& p) { return std::pow(p[0] - 0.3, 2) + std::pow(p[1] - 0.6, 2); }

TEST(Bayesian, FindsTheBottomOfABowl) {
  const Problem problem = bowl_problem();
  const History history = play(problem, 20, [](const Point& p) { return Told{{bowl(p)}, {}, 0}; });
  EXPECT_LT(history.trials()[*find_best(problem, history)].values[0], 1e-5);
}

TEST(Bayesian, KeepsParallelProposalsApart) {
  const Problem problem = bowl_problem();
  History history = play(problem, 5, [](const Point& p) { return Told{{bowl(p)}, {}, 0}; });
  const auto strategy = make_bayesian();
  for (int i = 0; i < 6; ++i) {
    Trial trial;
    trial.point = strategy->propose(problem, history)->point;
    for (std::size_t k = 5; k < history.size(); ++k) {
      const Point& other = history.trials()[k].point;
      EXPECT_GT(std::hypot(other[0] - trial.point[0], other[1] - trial.point[1]), 0.01);
    }
    history.add(trial);
  }
}

TEST(Bayesian, StaysWhereConstraintsHold) {
  // The bottom of the bowl is forbidden: x must be at least 0.5, so the best is (0.5, 0.6) with
  // 0.04.
  const Problem problem = bowl_problem(1);
  const History history =
      play(problem, 30, [](const Point& p) { return Told{{bowl(p)}, {0.5 - p[0]}, 0}; });
  const Trial& best = history.trials()[*find_best(problem, history)];
  EXPECT_TRUE(is_feasible(best));
  EXPECT_NEAR(best.values[0], 0.04, 2e-3);
}

TEST(Bayesian, SpreadsOverTheFrontOfTwoObjectives) {
  const Problem problem = bowl_problem(0, {Direction::minimize, Direction::maximize});
  const auto outcome = [](const Point& p) {
    return Told{{bowl(p), -std::pow(p[0] - 0.8, 2) - std::pow(p[1] - 0.6, 2)}, {}, 0};
  };
  const History history = play(problem, 30, outcome);
  std::vector<Losses> losses;
  for (const Trial& trial : history.trials()) losses.push_back({trial.values[0], -trial.values[1]});
  // The front runs from (0, 0.25) to (0.25, 0) along √a + √b = 0.5: the volume up to (0.25, 0.25)
  // that it dominates is 0.0625 - 0.25²/6.
  EXPECT_GT(hypervolume(losses, {0.25, 0.25}), 0.9 * (0.0625 - 0.0625 / 6));
  EXPECT_GT(pareto_front(problem, history).size(), 8u);
}

TEST(Bayesian, PrefersCheapTrialsWhenCostCounts) {
  const Problem problem = bowl_problem();
  // The second coordinate costs and gains nothing.
  const auto outcome = [](const Point& p) {
    return Told{{std::pow(p[0] - 0.3, 2)}, {}, std::exp(6 * p[1])};
  };
  const auto cost_of = [](const History& history) {
    double sum = 0;
    for (const Trial& trial : history.trials()) sum += trial.cost;
    return sum;
  };
  EXPECT_LT(cost_of(play(problem, 16, outcome, {.cost_weight = 1})),
            0.5 * cost_of(play(problem, 16, outcome)));
}

TEST(Bayesian, ProfitsFromAnEarlierStudyOfTheSameTask) {
  std::vector<PriorTrial> prior;
  Stream stream({5});
  for (int i = 0; i < 15; ++i) {
    const Point point{stream.uniform(), stream.uniform()};
    prior.push_back({point, {bowl(point)}, 0});
  }
  const Problem problem = bowl_problem();
  const History history =
      play(problem, 3, [](const Point& p) { return Told{{bowl(p)}, {}, 0}; }, {}, History(prior));
  EXPECT_LT(history.trials()[*find_best(problem, history)].values[0], 1e-3);
}

TEST(Bayesian, ProfitsFromARelatedTask) {
  // Another level and scale, and a bottom a little beside ours.
  std::vector<PriorTrial> prior;
  Stream stream({6});
  for (int i = 0; i < 25; ++i) {
    const Point point{stream.uniform(), stream.uniform()};
    prior.push_back({point, {700 + 30 * bowl({point[0] + 0.03, point[1]})}, 1});
  }
  const Problem problem = bowl_problem();
  const auto outcome = [](const Point& p) { return Told{{bowl(p)}, {}, 0}; };
  const History with = play(problem, 6, outcome, {}, History(prior)),
                without = play(problem, 6, outcome);
  EXPECT_LT(with.trials()[*find_best(problem, with)].values[0],
            without.trials()[*find_best(problem, without)].values[0]);
  EXPECT_LT(with.trials()[*find_best(problem, with)].values[0], 5e-3);
}

TEST(Bayesian, StaysBoundedWithAThousandPendingTrials) {
  const Problem problem = bowl_problem();
  History history = play(problem, 10, [](const Point& p) { return Told{{bowl(p)}, {}, 0}; });
  Stream stream({7});
  for (int i = 0; i < 1000; ++i) {
    Trial trial;
    trial.point = {stream.uniform(), stream.uniform()};
    history.add(trial);
  }
  const auto proposal = make_bayesian()->propose(problem, history);
  ASSERT_TRUE(proposal);
  EXPECT_FALSE(history.has_seen(proposal->point));
}

}  // namespace
}  // namespace meridian::tune
