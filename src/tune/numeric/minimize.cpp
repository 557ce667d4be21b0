// SPDX-License-Identifier: Apache-2.0
#include "tune/numeric/minimize.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "tune/numeric/cholesky.h"

namespace meridian::tune {

namespace {

using Vector = std::vector<double>;

struct Pair {
  Vector s, y;
  double rho = 0;
};

class Descent {
 public:
  Descent(std::span<const double> start, std::span<const double> lower,
          std::span<const double> upper, const Differentiable& function,
          const MinimizeSettings& settings)
      : lower_(lower), upper_(upper), function_(function), settings_(settings), x_(start.size()) {
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = std::clamp(start[i], lower[i], upper[i]);
    gradient_.resize(x_.size());
    value_ = evaluate(x_, gradient_);
  }

  Minimum run() {
    while (std::isfinite(value_) && evaluations_ < settings_.evaluations && step()) {
    }
    return {x_, value_, evaluations_};
  }

 private:
  double evaluate(const Vector& x, Vector& gradient) {
    ++evaluations_;
    return function_(x, gradient);
  }

  bool is_held(std::size_t i) const {
    return (x_[i] <= lower_[i] && gradient_[i] > 0) || (x_[i] >= upper_[i] && gradient_[i] < 0);
  }

  // Two-loop recursion over the free variables; steepest descent while there is no memory.
  Vector direction(const std::vector<bool>& held) const {
    Vector d(x_.size());
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = held[i] ? 0 : -gradient_[i];
    if (pairs_.empty()) {
      double largest = 0;
      for (const double v : d) largest = std::max(largest, std::abs(v));
      for (double& v : d) v *= settings_.first_step / largest;
      return d;
    }
    Vector weight(pairs_.size());
    for (std::size_t k = pairs_.size(); k-- > 0;) {
      const Pair& p = pairs_[k];
      weight[k] = p.rho * dot(p.s.data(), d.data(), d.size());
      for (std::size_t i = 0; i < d.size(); ++i) d[i] -= weight[k] * p.y[i];
    }
    const Pair& last = pairs_.back();
    const double scale = 1 / (last.rho * dot(last.y.data(), last.y.data(), d.size()));
    for (double& v : d) v *= scale;
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      const Pair& p = pairs_[k];
      const double beta = p.rho * dot(p.y.data(), d.data(), d.size());
      for (std::size_t i = 0; i < d.size(); ++i) d[i] += (weight[k] - beta) * p.s[i];
    }
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (held[i]) d[i] = 0;
    }
    return d;
  }

  // False when there is nothing more to gain.
  bool step() {
    std::vector<bool> held(x_.size());
    double largest = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      held[i] = is_held(i);
      if (!held[i]) largest = std::max(largest, std::abs(gradient_[i]));
    }
    if (largest <= settings_.gradient_tolerance) return false;
    const Vector d = direction(held);
    if (!(dot(d.data(), gradient_.data(), d.size()) < 0)) {
      if (pairs_.empty()) return false;
      pairs_.clear();
      return true;
    }
    return search(d);
  }

  bool search(const Vector& d) {
    const std::size_t n = x_.size();
    Vector next(n), next_gradient(n);
    for (double length = 1; evaluations_ < settings_.evaluations; length *= 0.35) {
      double slope = 0, moved = 0;
      for (std::size_t i = 0; i < n; ++i) {
        next[i] = std::clamp(x_[i] + length * d[i], lower_[i], upper_[i]);
        slope += gradient_[i] * (next[i] - x_[i]);
        moved = std::max(moved, std::abs(next[i] - x_[i]));
      }
      if (moved < 1e-14) return forget();
      if (slope >= 0) continue;  // the projection turned the step round: shorter
      const double next_value = evaluate(next, next_gradient);
      if (!(next_value <= value_ + 1e-4 * slope)) continue;
      return accept(next, next_gradient, next_value);
    }
    return false;
  }

  bool forget() {
    if (pairs_.empty()) return false;
    pairs_.clear();
    return true;
  }

  bool accept(Vector& next, Vector& next_gradient, double next_value) {
    Pair pair{Vector(x_.size()), Vector(x_.size())};
    for (std::size_t i = 0; i < x_.size(); ++i) {
      pair.s[i] = next[i] - x_[i];
      pair.y[i] = next_gradient[i] - gradient_[i];
    }
    const double curvature = dot(pair.s.data(), pair.y.data(), x_.size());
    if (curvature > 1e-12 * dot(pair.y.data(), pair.y.data(), x_.size())) {
      pair.rho = 1 / curvature;
      pairs_.push_back(std::move(pair));
      if (pairs_.size() > static_cast<std::size_t>(settings_.memory)) pairs_.pop_front();
    }
    const double gained = value_ - next_value;
    x_.swap(next);
    gradient_.swap(next_gradient);
    value_ = next_value;
    return gained > settings_.value_tolerance * (1 + std::abs(value_)) || forget();
  }

  std::span<const double> lower_, upper_;
  const Differentiable& function_;
  const MinimizeSettings& settings_;
  Vector x_, gradient_;
  double value_ = 0;
  int evaluations_ = 0;
  std::deque<Pair> pairs_;
};

}  // namespace

Minimum minimize_in_box(std::span<const double> start, std::span<const double> lower,
                        std::span<const double> upper, const Differentiable& function,
                        const MinimizeSettings& settings) {
  return Descent(start, lower, upper, function, settings).run();
}

}  // namespace meridian::tune
