// SPDX-License-Identifier: Apache-2.0
#include "tune/search/tpe.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "tune/numeric/normal.h"
#include "tune/numeric/stream.h"
#include "tune/search/designs.h"
#include "tune/search/observations.h"
#include "tune/search/pareto.h"
#include "tune/search/unseen.h"

namespace meridian::tune {

namespace {

// A mixture of kernels: one around each row, and one that is even over the space.
class Density {
 public:
  Density(const Space& space, Rows rows) : space_(space), rows_(std::move(rows)) {
    const auto n = static_cast<double>(rows_.size());
    const auto d = static_cast<double>(space.size());
    // Scott's rule on the spread of each coordinate, never narrower than what 200 trials would
    // need.
    const double scott = std::pow(std::max(n, 1.0), -1 / (d + 4));
    for (std::size_t k = 0; k < space.size(); ++k) {
      double mean = 0.5, squares = 1.0 / 12;  // of the even kernel
      for (std::size_t i = 0; i < rows_.size(); ++i) mean += rows_.row(i)[k];
      mean /= n + 1;
      for (std::size_t i = 0; i < rows_.size(); ++i) squares += std::pow(rows_.row(i)[k] - mean, 2);
      bandwidths_.push_back(std::clamp(scott * std::sqrt(squares / (n + 1)), 0.01, 0.5));
    }
  }

  Point draw(Stream& stream) const {
    const std::size_t kernel = stream.below(rows_.size() + 1);
    std::vector<double> x(space_.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Parameter& p = space_.parameter(k);
      const double u = stream.uniform();
      const bool is_even = kernel == rows_.size();
      if (p.is_categorical()) {
        const auto count = static_cast<double>(p.categories.size());
        const double own = is_even ? -1 : rows_.row(kernel)[k];
        // A share of the kernel stays on its category; the rest is even.
        x[k] = !is_even && own >= 0 && u < stay ? own : std::floor(stream.uniform() * count);
      } else if (is_even) {
        x[k] = u;
      } else {
        const double m = rows_.row(kernel)[k], b = bandwidths_[k];
        const double low = normal_cdf(-m / b), high = normal_cdf((1 - m) / b);
        const double p01 = std::clamp(low + u * (high - low), 1e-12, 1 - 1e-12);
        x[k] = std::clamp(m + b * normal_quantile(p01), 0.0, 1.0);
      }
    }
    return point_at(space_, x);
  }

  double log_of(std::span<const double> x) const {
    std::vector<double> logs(rows_.size() + 1, 0);
    double largest = -1e300;
    for (std::size_t i = 0; i <= rows_.size(); ++i) {
      for (std::size_t k = 0; k < x.size(); ++k) {
        const Parameter& p = space_.parameter(k);
        if (p.is_categorical()) {
          const double even = 1.0 / static_cast<double>(p.categories.size());
          if (i == rows_.size()) {
            logs[i] += std::log(even);
          } else {
            logs[i] += std::log((x[k] == rows_.row(i)[k] ? stay : 0) + (1 - stay) * even);
          }
        } else if (i < rows_.size()) {
          const double m = rows_.row(i)[k], b = bandwidths_[k];
          const double z = (x[k] - m) / b;
          const double mass = normal_cdf((1 - m) / b) - normal_cdf(-m / b);
          logs[i] -= 0.5 * z * z + std::log(b * mass) + 0.918938533204672742;
        }
      }
      largest = std::max(largest, logs[i]);
    }
    double sum = 0;
    for (const double v : logs) sum += std::exp(v - largest);
    return largest + std::log(sum / static_cast<double>(logs.size()));
  }

 private:
  static constexpr double stay = 0.75;

  const Space& space_;
  Rows rows_;
  std::vector<double> bandwidths_;
};

class Tpe final : public Strategy {
 public:
  explicit Tpe(const TpeSettings& settings) : settings_(settings) {}

  std::optional<Proposal> propose(const Problem& problem, const History& history) override {
    const Observations seen = observe(problem, history, 0, history.told());
    if (history.size() < settings_.initial || seen.losses.size() < 2 || problem.space.size() == 0) {
      return sobol_->propose(problem, history);
    }
    const auto [good, other] = split(problem, history, seen);
    const Density likely(problem.space, good), unlikely(problem.space, other);
    Stream stream({problem.seed, static_cast<std::uint64_t>(Purpose::tpe), history.size()});
    std::optional<Point> best;
    double best_score = 0;
    for (std::size_t i = 0; i < settings_.candidates; ++i) {
      Point point = likely.draw(stream);
      if (history.has_seen(point)) continue;
      const auto x = coordinates_of(problem.space, point);
      const double score = likely.log_of(x) - unlikely.log_of(x);
      if (!best || score > best_score) {
        best = std::move(point);
        best_score = score;
      }
    }
    if (!best) best = prefer_unseen(problem, history, likely.draw(stream));
    return Proposal{prefer_unseen(problem, history, std::move(*best))};
  }

 private:
  std::pair<Rows, Rows> split(const Problem& problem, const History& history,
                              const Observations& seen) const {
    std::vector<std::size_t> order(seen.losses.size());
    std::iota(order.begin(), order.end(), 0);
    const auto ranks = ranks_of(problem, history, seen);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      return std::tuple(is_violated(history, seen, i), ranks[i], seen.losses[i]);
    });
    const auto wanted = static_cast<std::size_t>(
        std::ceil(settings_.good_share * static_cast<double>(order.size())));
    const std::size_t count = std::clamp<std::size_t>(wanted, 1, settings_.good_limit);
    std::pair<Rows, Rows> out{{problem.space.size(), {}}, pending_rows(problem, history)};
    for (std::size_t i = 0; i < order.size(); ++i) {
      (i < count ? out.first : out.second).add(seen.rows.row(order[i]));
    }
    return out;
  }

  static bool is_violated(const History& history, const Observations& seen, std::size_t row) {
    const std::size_t number = seen.trials[row];
    return number != Observations::npos && !is_feasible(history.trials()[number]);
  }

  // All 0 with one objective.
  static std::vector<std::size_t> ranks_of(const Problem& problem, const History& history,
                                           const Observations& seen) {
    const std::size_t objectives = problem.directions.size();
    if (objectives == 1) return std::vector<std::size_t>(seen.losses.size());
    std::vector<Losses> losses(seen.losses.size());
    for (std::size_t k = 0; k < objectives; ++k) {
      const auto values = observe(problem, history, k, history.told()).losses;
      for (std::size_t i = 0; i < values.size(); ++i) losses[i].push_back(values[i]);
    }
    return domination_ranks(losses);
  }

  TpeSettings settings_;
  std::unique_ptr<Strategy> sobol_ = make_sobol();
};

}  // namespace

std::unique_ptr<Strategy> make_tpe(const TpeSettings& settings) {
  return std::make_unique<Tpe>(settings);
}

}  // namespace meridian::tune
