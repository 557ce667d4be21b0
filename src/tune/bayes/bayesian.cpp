// SPDX-License-Identifier: Apache-2.0
#include "tune/bayes/bayesian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tune/bayes/climb.h"
#include "tune/bayes/surrogate.h"
#include "tune/bayes/trust_region.h"
#include "tune/numeric/stream.h"
#include "tune/search/designs.h"
#include "tune/search/observations.h"
#include "tune/search/unseen.h"

namespace meridian::tune {

namespace {

constexpr std::size_t trust_from = 9;  // coordinates
constexpr std::size_t imagined_limit = 200;

std::size_t initial_points(const Space& space) {
  return std::clamp<std::size_t>(2 * space.size(), 4, 20);
}

// One loss per row out of several objectives: the augmented Chebyshev norm with weights drawn for
// this proposal (ParEGO: Knowles 2006). Each objective is warped and brought to [0, 1] first.
std::vector<double> scalarized(const std::vector<std::vector<double>>& objectives, Stream weights) {
  std::vector<double> largest(objectives[0].size(), 0), sum(objectives[0].size(), 0);
  std::vector<double> share;
  double total = 0;
  for (std::size_t k = 0; k < objectives.size(); ++k) {
    share.push_back(-std::log(1 - weights.uniform()));  // even on the simplex
    total += share.back();
  }
  for (std::size_t k = 0; k < objectives.size(); ++k) {
    const Warp warp(objectives[k]);
    std::vector<double> y;
    for (const double v : objectives[k]) y.push_back(warp(v));
    const auto [low, high] = std::ranges::minmax(y);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double part = share[k] / total * (high > low ? (y[i] - low) / (high - low) : 0);
      largest[i] = std::max(largest[i], part);
      sum[i] += part;
    }
  }
  for (std::size_t i = 0; i < sum.size(); ++i) largest[i] += 0.05 * sum[i];
  return largest;
}

class Bayesian final : public Strategy {
 public:
  explicit Bayesian(const BayesianSettings& settings)
      : settings_(settings), surrogates_({settings.fit_limit, settings.model_limit}) {}

  std::optional<Proposal> propose(const Problem& problem, const History& history) override {
    if (auto start = propose_start(problem, history)) return start;
    const Sample sample = make_sample(problem, history);
    Surrogate objective = surrogates_.make(sample);
    GaussianProcess& model = objective.model;
    std::vector<Surrogate> constraints = make_constraints(problem, history);
    const std::optional<Surrogate> cost = make_cost(problem, history);
    for (const auto& row : last_pending(problem, history)) {
      model.imagine(row);
      for (Surrogate& c : constraints) c.model.imagine(row);
    }

    Acquisition acquisition{.objective = &model};
    for (const Surrogate& c : constraints) {
      acquisition.constraints.push_back({&c.model, c.warp(0)});
    }
    if (cost) {
      acquisition.log_cost = &cost->model;
      acquisition.cost_weight = settings_.cost_weight * cost->warp.spread();
    }
    const Rows bases = best_rows(problem, model, constraints, acquisition.best);
    const auto summit = climb(
        problem.space, acquisition, region(sample, model, bases), bases,
        [&](const Point& p) { return !history.has_seen(p); },
        climb_settings(problem, history, model.size()));
    if (!summit) return Proposal{prefer_unseen(problem, history, history.trials().back().point)};
    return Proposal{summit->point};
  }

 private:
  // Even points while there is too little to model. Where another task was tuned before, its best
  // configurations come first, and fewer even points follow.
  std::optional<Proposal> propose_start(const Problem& problem, const History& history) {
    if (problem.space.size() == 0) return sobol_->propose(problem, history);
    std::size_t initial = settings_.initial > 0 ? settings_.initial : initial_points(problem.space);
    const std::vector<Point> favourites = best_of_groups(problem, history);
    if (!favourites.empty()) initial = favourites.size() + 2;
    std::size_t same = 0, usable = 0;
    for (const PriorTrial& trial : history.prior()) same += trial.group == 0 ? 1 : 0;
    for (const Trial& trial : history.trials()) usable += trial.values.empty() ? 0 : 1;
    if (history.size() + same >= initial && usable + same >= 2) return std::nullopt;
    if (history.size() < favourites.size() && !history.has_seen(favourites[history.size()])) {
      return Proposal{favourites[history.size()]};
    }
    return sobol_->propose(problem, history);
  }

  static std::vector<Point> best_of_groups(const Problem& problem, const History& history) {
    std::map<std::size_t, const PriorTrial*> best;
    for (const PriorTrial& trial : history.prior()) {
      if (trial.group == 0 || trial.values.empty()) continue;
      const PriorTrial*& so_far = best[trial.group];
      if (so_far == nullptr || loss(trial.values[0], problem.directions[0]) <
                                   loss(so_far->values[0], problem.directions[0])) {
        so_far = &trial;
      }
    }
    std::vector<Point> points;
    for (const auto& [group, trial] : best) points.push_back(trial->point);
    return points;
  }

  static Sample make_sample(const Problem& problem, const History& history) {
    Observations seen = observe(problem, history, 0, history.told());
    if (problem.directions.size() > 1) {
      std::vector<std::vector<double>> objectives;
      for (std::size_t k = 0; k < problem.directions.size(); ++k) {
        objectives.push_back(observe(problem, history, k, history.told()).losses);
      }
      seen.losses = scalarized(
          objectives,
          Stream({problem.seed, static_cast<std::uint64_t>(Purpose::weights), history.size()}));
    }
    return {layout_of(problem.space), std::move(seen.rows), std::move(seen.losses),
            std::move(seen.groups)};
  }

  std::vector<Surrogate> make_constraints(const Problem& problem, const History& history) {
    std::vector<Surrogate> out;
    for (std::size_t k = 0; k < problem.constraints; ++k) {
      const Sample sample = measured(problem, history, [&](const Trial& trial) {
        return k < trial.constraints.size() ? std::optional(trial.constraints[k]) : std::nullopt;
      });
      if (sample.losses.size() >= 2) out.push_back(surrogates_.make(sample));
    }
    return out;
  }

  std::optional<Surrogate> make_cost(const Problem& problem, const History& history) {
    if (settings_.cost_weight <= 0) return std::nullopt;
    const Sample sample = measured(problem, history, [](const Trial& trial) {
      return trial.cost > 0 && trial.state == TrialState::complete
                 ? std::optional(std::log(trial.cost))
                 : std::nullopt;
    });
    if (sample.losses.size() < 3) return std::nullopt;
    return surrogates_.make(sample);
  }

  template <class F>
  static Sample measured(const Problem& problem, const History& history, F value_of) {
    Sample sample{layout_of(problem.space), {problem.space.size(), {}}, {}, {}};
    for (const std::size_t number : history.order()) {
      const Trial& trial = history.trials()[number];
      const std::optional<double> value = value_of(trial);
      if (!value) continue;
      sample.rows.add(coordinates_of(problem.space, trial.point));
      sample.losses.push_back(*value);
      sample.groups.push_back(0);
    }
    return sample;
  }

  static std::vector<std::vector<double>> last_pending(const Problem& problem,
                                                       const History& history) {
    const Rows rows = pending_rows(problem, history);
    std::vector<std::vector<double>> out;
    const std::size_t skipped = rows.size() - std::min(rows.size(), imagined_limit);
    for (std::size_t i = skipped; i < rows.size(); ++i) {
      out.emplace_back(rows.row(i).begin(), rows.row(i).end());
    }
    return out;
  }

  // The rows of our own task with the lowest means, those first that satisfy the constraints by the
  // models' means. `best` becomes the lowest mean among the latter; without any, the highest of
  // all, so that feasibility decides.
  static Rows best_rows(const Problem& problem, const GaussianProcess& model,
                        const std::vector<Surrogate>& constraints, double& best) {
    const std::size_t width = problem.space.size();
    std::vector<std::pair<bool, double>> rank;
    std::vector<std::size_t> order;
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < model.size(); ++i) {
      const auto row = model.rows().row(i);
      const bool is_own = row.size() == width || row[width] == 0;
      const bool is_violated = std::ranges::any_of(constraints, [&](const Surrogate& c) {
        return c.model.predict(row.first(width)).mean > c.warp(0);
      });
      rank.emplace_back(is_violated, model.mean_at(i));
      highest = std::max(highest, model.mean_at(i));
      if (is_own) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return rank[i]; });
    best = rank[order[0]].first ? highest : rank[order[0]].second;
    Rows rows{width, {}};
    for (std::size_t i = 0; i < std::min<std::size_t>(5, order.size()); ++i) {
      rows.add(model.rows().row(order[i]).first(width));
    }
    return rows;
  }

  static Box region(const Sample& sample, const GaussianProcess& model, const Rows& bases) {
    const std::size_t width = sample.layout.size();
    if (width < trust_from) return {std::vector<double>(width, 0), std::vector<double>(width, 1)};
    std::vector<double> own;
    for (std::size_t i = 0; i < sample.losses.size(); ++i) {
      if (sample.groups[i] == 0) own.push_back(sample.losses[i]);
    }
    return trust_box(bases.row(0), model.parameters().length, trust_length(own, width));
  }

  // Fewer candidates where each costs more.
  static ClimbSettings climb_settings(const Problem& problem, const History& history,
                                      std::size_t rows) {
    ClimbSettings out;
    out.candidates = std::clamp<int>(60'000 / static_cast<int>(rows + 1), 128, 512);
    out.starts = rows > 300 ? 3 : 4;
    out.key = Stream({problem.seed, static_cast<std::uint64_t>(Purpose::bayesian), history.size()})
                  .bits();
    return out;
  }

  BayesianSettings settings_;
  Surrogates surrogates_;
  std::unique_ptr<Strategy> sobol_ = make_sobol();
};

}  // namespace

std::unique_ptr<Strategy> make_bayesian(const BayesianSettings& settings) {
  return std::make_unique<Bayesian>(settings);
}

}  // namespace meridian::tune
