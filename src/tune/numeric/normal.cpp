// SPDX-License-Identifier: Apache-2.0
#include "tune/numeric/normal.h"

#include <cmath>
#include <numbers>

namespace meridian::tune {

namespace {

constexpr double log_sqrt_2pi = 0.91893853320467274178;
constexpr double tail = -6;  // left of it the series below are exact to double precision

// Mills' ratio cdf(z)/pdf(z) for z < tail by Laplace's continued fraction (Lentz's order is not
// needed: 60 terms from the back converge for |z| > 5).
double mills(double z) {
  const double x = -z;
  double denominator = x;
  for (int k = 60; k >= 1; --k) denominator = x + k / denominator;
  return 1 / denominator;
}

// 1 + z * mills(z) without cancellation. With x = -z and m = 1 / (x + r), r = 1/(x + 2/(x + …)):
// 1 - x m = r m.
double one_plus_z_mills(double z) {
  const double x = -z;
  double rest = x;
  for (int k = 60; k >= 2; --k) rest = x + k / rest;
  const double r = 1 / rest;
  return r / (x + r);
}

}  // namespace

double normal_pdf(double z) { return std::exp(-0.5 * z * z - log_sqrt_2pi); }

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double log_normal_cdf(double z) {
  if (z < tail) return -0.5 * z * z - log_sqrt_2pi + std::log(mills(z));
  return std::log(normal_cdf(z));
}

LogH log_h(double z) {
  if (z < tail) {
    const double reduced = one_plus_z_mills(z);
    return {-0.5 * z * z - log_sqrt_2pi + std::log(reduced), mills(z) / reduced};
  }
  const double cdf = normal_cdf(z);
  const double h = normal_pdf(z) + z * cdf;
  return {std::log(h), cdf / h};
}

double normal_quantile(double p) {
  // A start that is good to three digits (Abramowitz, Stegun 26.2.23), then Newton on the
  // smaller tail, where the logarithm keeps relative precision.
  const bool left = p < 0.5;
  const double q = left ? p : 1 - p;
  if (q == 0.5) return 0;
  const double t = std::sqrt(-2 * std::log(q));
  double z = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  for (int i = 0; i < 3; ++i) {
    // Newton on log cdf, which is concave and nearly quadratic: error squared at each step.
    const double log_cdf = log_normal_cdf(z);
    const double slope = std::exp(-0.5 * z * z - log_sqrt_2pi - log_cdf);
    z -= (log_cdf - std::log(q)) / slope;
  }
  return left ? z : -z;
}

}  // namespace meridian::tune
