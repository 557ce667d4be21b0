// SPDX-License-Identifier: Apache-2.0
#include "tune/model/warp.h"

#include <algorithm>
#include <cmath>

namespace meridian::tune {

namespace {

constexpr double lowest_exponent = -1, highest_exponent = 1;

double power(double z, double exponent) {
  if (z >= 0) {
    return std::abs(exponent) < 1e-9 ? std::log1p(z)
                                     : std::expm1(exponent * std::log1p(z)) / exponent;
  }
  const double other = 2 - exponent;
  return std::abs(other) < 1e-9 ? -std::log1p(-z) : -std::expm1(other * std::log1p(-z)) / other;
}

struct Moments {
  double mean = 0, deviation = 1;
};

Moments moments(std::span<const double> values) {
  double mean = 0, squares = 0;
  const double n = static_cast<double>(values.size());
  for (const double v : values) mean += v / n;
  for (const double v : values) squares += (v - mean) * (v - mean) / n;
  return {mean, squares > 0 ? std::sqrt(squares) : 1};
}

double log_likelihood(std::span<const double> z, double exponent) {
  std::vector<double> powered;
  double jacobian = 0;
  for (const double v : z) {
    powered.push_back(power(v, exponent));
    jacobian += (exponent - 1) * std::copysign(std::log1p(std::abs(v)), v);
  }
  return jacobian - static_cast<double>(z.size()) * std::log(moments(powered).deviation);
}

double quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

}  // namespace

Warp::Warp(std::span<const double> losses) {
  std::vector<double> sorted(losses.begin(), losses.end());
  std::ranges::sort(sorted);
  centre_ = quantile(sorted, 0.5);
  // Halves first: the spread of numbers near the largest double overflows.
  scale_ = 2 * (quantile(sorted, 0.75) / 2 - quantile(sorted, 0.25) / 2);
  if (!(scale_ > 0)) scale_ = 2 * (sorted.back() / 2 - sorted.front() / 2);
  if (!(scale_ > 0)) scale_ = 1;
  scale_ = std::min(scale_, 1e308);

  std::vector<double> z;
  for (const double v : losses) z.push_back(std::clamp(v / scale_ - centre_ / scale_, -1e9, 1e9));
  // The likelihood has one hill: golden section.
  constexpr double ratio = 0.61803398874989485;
  double low = lowest_exponent, high = highest_exponent;
  for (int i = 0; i < 30; ++i) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    (log_likelihood(z, a) > log_likelihood(z, b) ? high : low) =
        log_likelihood(z, a) > log_likelihood(z, b) ? b : a;
  }
  exponent_ = 0.5 * (low + high);
  for (double& v : z) v = power(v, exponent_);
  const Moments m = moments(z);
  mean_ = m.mean;
  deviation_ = m.deviation;
}

double Warp::operator()(double loss) const {
  const double z = std::clamp(loss / scale_ - centre_ / scale_, -1e9, 1e9);
  return (power(z, exponent_) - mean_) / deviation_;
}

}  // namespace meridian::tune
