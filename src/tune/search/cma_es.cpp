// SPDX-License-Identifier: Apache-2.0
#include "tune/search/cma_es.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "tune/numeric/eigen.h"
#include "tune/numeric/stream.h"
#include "tune/search/observations.h"
#include "tune/search/unseen.h"

namespace meridian::tune {

namespace {

using Vector = std::vector<double>;

struct Constants {
  std::size_t lambda, mu;
  Vector weights;  // of the mu best; sum 1
  double mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi;

  Constants(std::size_t n, std::size_t population) {
    const auto d = static_cast<double>(n);
    lambda = population > 0 ? population : 4 + static_cast<std::size_t>(3 * std::log(d));
    mu = std::max<std::size_t>(1, lambda / 2);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < mu; ++i) {
      weights.push_back(std::log(static_cast<double>(mu) + 0.5) -
                        std::log(static_cast<double>(i + 1)));
      sum += weights.back();
    }
    for (double& w : weights) {
      w /= sum;
      squares += w * w;
    }
    mu_eff = 1 / squares;
    c_sigma = (mu_eff + 2) / (d + mu_eff + 5);
    d_sigma = 1 + 2 * std::max(0.0, std::sqrt((mu_eff - 1) / (d + 1)) - 1) + c_sigma;
    c_c = (4 + mu_eff / d) / (d + 4 + 2 * mu_eff / d);
    c_1 = 2 / ((d + 1.3) * (d + 1.3) + mu_eff);
    c_mu = std::min(1 - c_1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((d + 2) * (d + 2) + mu_eff));
    chi = std::sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d));
  }
};

struct State {
  Vector mean, path_c, path_sigma;
  double sigma = 0;
  Matrix covariance;
  Eigen axes;
  std::size_t generations = 0;

  State(std::size_t n, double step)
      : mean(n, 0.5), path_c(n, 0), path_sigma(n, 0), sigma(step), covariance(n) {
    for (std::size_t i = 0; i < n; ++i) covariance.at(i, i) = 1;
    axes = eigen_of(covariance);
  }

  // B diag(f(eigenvalue)) Bᵀ v
  template <class F>
  Vector along_axes(const Vector& v, F f) const {
    Vector out(v.size());
    for (std::size_t k = 0; k < v.size(); ++k) {
      double part = 0;
      for (std::size_t i = 0; i < v.size(); ++i) part += axes.vectors.at(i, k) * v[i];
      part *= f(std::sqrt(std::max(axes.values[k], 1e-20)));
      for (std::size_t i = 0; i < v.size(); ++i) out[i] += axes.vectors.at(i, k) * part;
    }
    return out;
  }

  Vector draw(Stream& stream) const {
    Vector z(mean.size());
    for (double& v : z) v = stream.normal();
    Vector x = along_axes(z, [](double root) { return root; });
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = mean[i] + sigma * x[i];
    return x;
  }

  // `best`: the mu best of a generation, best first.
  void update(const Constants& c, const std::vector<Vector>& best) {
    const std::size_t n = mean.size();
    Vector shift(n, 0);
    for (std::size_t k = 0; k < best.size(); ++k) {
      for (std::size_t i = 0; i < n; ++i) shift[i] += c.weights[k] * (best[k][i] - mean[i]) / sigma;
    }
    ++generations;
    const Vector white = along_axes(shift, [](double root) { return 1 / root; });
    double norm = 0;
    for (std::size_t i = 0; i < n; ++i) {
      path_sigma[i] = (1 - c.c_sigma) * path_sigma[i] +
                      std::sqrt(c.c_sigma * (2 - c.c_sigma) * c.mu_eff) * white[i];
      norm += path_sigma[i] * path_sigma[i];
    }
    norm = std::sqrt(norm);
    const double fading = 1 - std::pow(1 - c.c_sigma, 2.0 * static_cast<double>(generations));
    const bool steady = norm / std::sqrt(fading) < (1.4 + 2 / (static_cast<double>(n) + 1)) * c.chi;
    for (std::size_t i = 0; i < n; ++i) {
      path_c[i] = (1 - c.c_c) * path_c[i] +
                  (steady ? std::sqrt(c.c_c * (2 - c.c_c) * c.mu_eff) * shift[i] : 0);
    }
    const double lost = steady ? 0 : c.c_1 * c.c_c * (2 - c.c_c);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double value =
            (1 - c.c_1 - c.c_mu + lost) * covariance.at(i, j) + c.c_1 * path_c[i] * path_c[j];
        for (std::size_t k = 0; k < best.size(); ++k) {
          value += c.c_mu * c.weights[k] * ((best[k][i] - mean[i]) / sigma) *
                   ((best[k][j] - mean[j]) / sigma);
        }
        covariance.at(i, j) = covariance.at(j, i) = value;
      }
    }
    for (std::size_t i = 0; i < n; ++i) mean[i] += sigma * shift[i];
    sigma *= std::exp(std::min(1.0, c.c_sigma / c.d_sigma * (norm / c.chi - 1)));
    sigma = std::clamp(sigma, 1e-12, 1.0);
    axes = eigen_of(covariance);
  }
};

class CmaEs final : public Strategy {
 public:
  explicit CmaEs(const CmaEsSettings& settings) : settings_(settings) {}

  std::optional<Proposal> propose(const Problem& problem, const History& history) override {
    const Space& space = problem.space;
    std::vector<std::size_t> numbers;  // coordinates that the distribution has
    for (std::size_t i = 0; i < space.size(); ++i) {
      if (!space.parameter(i).is_categorical()) numbers.push_back(i);
    }
    const Observations seen = observe(problem, history, 0, history.told());
    Stream stream({problem.seed, static_cast<std::uint64_t>(Purpose::cma_es), history.size()});
    Vector unit(space.size());
    draw_categories(space, seen, stream, unit);
    if (!numbers.empty()) {
      const State& state = played(seen, numbers);
      draw_numbers(space, state, numbers, stream, unit);
    }
    return Proposal{prefer_unseen(problem, history, point_at(space, unit))};
  }

 private:
  const State& played(const Observations& seen, const std::vector<std::size_t>& numbers) {
    const Constants constants(numbers.size(), settings_.population);
    const std::size_t generations = seen.losses.size() / constants.lambda;
    if (!state_ || state_->generations > generations ||
        digest_ != digest(seen, state_->generations * constants.lambda)) {
      state_.emplace(numbers.size(), settings_.step);
    }
    while (state_->generations < generations) {
      const std::size_t first = state_->generations * constants.lambda;
      std::vector<std::size_t> order(constants.lambda);
      std::iota(order.begin(), order.end(), first);
      std::ranges::stable_sort(order, {}, [&](std::size_t i) { return seen.losses[i]; });
      std::vector<Vector> best;
      for (std::size_t k = 0; k < constants.mu; ++k) {
        best.emplace_back();
        for (const std::size_t d : numbers) best.back().push_back(seen.rows.row(order[k])[d]);
      }
      state_->update(constants, best);
    }
    digest_ = digest(seen, state_->generations * constants.lambda);
    return *state_;
  }

  static std::uint64_t digest(const Observations& seen, std::size_t rows) {
    std::uint64_t hash = mix(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      hash = mix(hash + std::bit_cast<std::uint64_t>(seen.losses[i]));
      for (const double v : seen.rows.row(i)) hash = mix(hash + std::bit_cast<std::uint64_t>(v));
    }
    return hash;
  }

  static void draw_numbers(const Space& space, const State& state,
                           const std::vector<std::size_t>& numbers, Stream& stream, Vector& unit) {
    Vector x;
    for (int attempt = 0; attempt < 100; ++attempt) {
      x = state.draw(stream);
      if (std::ranges::all_of(x, [](double v) { return v >= 0 && v <= 1; })) break;
    }
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const Parameter& p = space.parameter(numbers[k]);
      if (p.range.numbers == Numbers::integer) {
        // The distribution may have shrunk to one integer while its neighbours were never tried.
        const double share = 0.2 / (p.range.max - p.range.min + 1);
        const double deviation = state.sigma * std::sqrt(state.covariance.at(k, k));
        if (deviation < share) x[k] += share * stream.normal();
      }
      unit[numbers[k]] = std::clamp(x[k], 0.0, 1.0);
    }
  }

  static void draw_categories(const Space& space, const Observations& seen, Stream& stream,
                              Vector& unit) {
    std::vector<double> sorted = seen.losses;
    std::ranges::sort(sorted);
    for (std::size_t d = 0; d < space.size(); ++d) {
      const std::size_t count = space.parameter(d).categories.size();
      if (count == 0) continue;
      Vector shares(count, 1);
      for (std::size_t i = 0; i < seen.losses.size(); ++i) {
        const double own = seen.rows.row(i)[d];
        if (own >= 0 && seen.losses[i] <= sorted[sorted.size() / 2])
          shares[static_cast<std::size_t>(own)] += 1;
      }
      double at = stream.uniform() * std::accumulate(shares.begin(), shares.end(), 0.0);
      std::size_t chosen = 0;
      while (chosen + 1 < count && at >= shares[chosen]) at -= shares[chosen++];
      unit[d] = static_cast<double>(chosen);
    }
  }

  CmaEsSettings settings_;
  std::optional<State> state_;
  std::uint64_t digest_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_cma_es(const CmaEsSettings& settings) {
  return std::make_unique<CmaEs>(settings);
}

}  // namespace meridian::tune
