// SPDX-License-Identifier: Apache-2.0
#include "tune/bayes/acquisition.h"

#include <algorithm>
#include <cmath>

#include "tune/numeric/normal.h"

namespace meridian::tune {

namespace {

// Below this deviation (of values with variance 1) a model is as certain as doubles can say.
constexpr double least_deviation = 1e-9;

double deviation_of(const Prediction& p) {
  return std::max(std::sqrt(p.variance), least_deviation);
}

struct Term {
  double value = 0;
  double by_mean = 0;
  double by_deviation = 0;
};

Term improvement(const Prediction& p, double best) {
  const double s = deviation_of(p), z = (best - p.mean) / s;
  const LogH h = log_h(z);
  return {h.value + std::log(s), -h.slope / s, (1 - h.slope * z) / s};
}

Term feasibility(const Prediction& p, double limit) {
  const double s = deviation_of(p), z = (limit - p.mean) / s;
  const double log_cdf = log_normal_cdf(z);
  const double slope = std::exp(-0.5 * z * z - 0.91893853320467274 - log_cdf);
  return {log_cdf, -slope / s, -slope * z / s};
}

// Adds a term of a model at x to value and gradient.
template <class F>
double add(const GaussianProcess& model, std::span<const double> x, std::span<double> gradient,
           F term_of) {
  if (gradient.empty()) return term_of(model.predict(x)).value;
  Slopes slopes;
  const Prediction p = model.predict(x, slopes);
  const Term term = term_of(p);
  const double by_variance =
      p.variance > least_deviation * least_deviation ? 0.5 / std::sqrt(p.variance) : 0;
  for (std::size_t d = 0; d < gradient.size(); ++d) {
    gradient[d] +=
        term.by_mean * slopes.mean[d] + term.by_deviation * by_variance * slopes.variance[d];
  }
  return term.value;
}

}  // namespace

double Acquisition::operator()(std::span<const double> x, std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  double value =
      add(*objective, x, gradient, [&](const Prediction& p) { return improvement(p, best); });
  for (const Constraint& c : constraints) {
    value +=
        add(*c.model, x, gradient, [&](const Prediction& p) { return feasibility(p, c.limit); });
  }
  if (log_cost != nullptr) {
    value += add(*log_cost, x, gradient,
                 [&](const Prediction& p) { return Term{-cost_weight * p.mean, -cost_weight, 0}; });
  }
  return value;
}

std::vector<double> Acquisition::operator()(const Rows& x) const {
  std::vector<double> values;
  for (const Prediction& p : objective->predict(x)) values.push_back(improvement(p, best).value);
  for (const Constraint& c : constraints) {
    const auto predictions = c.model->predict(x);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += feasibility(predictions[i], c.limit).value;
    }
  }
  if (log_cost != nullptr) {
    const auto predictions = log_cost->predict(x);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] -= cost_weight * predictions[i].mean;
    }
  }
  return values;
}

}  // namespace meridian::tune
