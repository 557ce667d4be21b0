// SPDX-License-Identifier: Apache-2.0
#include "tune/model/fit.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "tune/model/matern.h"
#include "tune/numeric/cholesky.h"
#include "tune/numeric/minimize.h"

namespace meridian::tune {

namespace {

constexpr double length_spread = std::numbers::sqrt3;
constexpr double signal_spread = 1.5;

double median_log_length(std::size_t width) {
  return std::log(0.5) + 0.5 * std::log(static_cast<double>(width));
}

}  // namespace

Posterior::Posterior(const Layout& layout, const Rows& rows, std::span<const double> y,
                     const FitSettings& settings)
    : width_(layout.size()), count_(rows.size()), settings_(settings), y_(y.begin(), y.end()) {
  differences_.reserve(width_ * count_ * (count_ - 1) / 2);
  for (std::size_t d = 0; d < width_; ++d) {
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        differences_.push_back(squared_difference(layout[d], rows.row(i)[d], rows.row(j)[d]));
      }
    }
  }
}

double Posterior::prior(std::span<const double> logs, std::span<double> gradient) const {
  double sum = 0;
  const auto normal = [&](std::size_t i, double mean, double spread) {
    const double z = (logs[i] - mean) / spread;
    gradient[i] = z / spread;
    sum += 0.5 * z * z;
  };
  for (std::size_t d = 0; d < width_; ++d) normal(d, median_log_length(width_), length_spread);
  normal(width_, 0, signal_spread);
  normal(width_ + 1, std::log(settings_.noise_median), settings_.noise_spread);
  return sum;
}

double Posterior::operator()(std::span<const double> logs, std::span<double> gradient) const {
  const std::size_t pairs = count_ * (count_ - 1) / 2;
  const double signal = std::exp(logs[width_]), noise = std::exp(logs[width_ + 1]);
  std::vector<double> r2(pairs), weights(width_);
  for (std::size_t d = 0; d < width_; ++d) {
    const double weight = weights[d] = std::exp(-2 * logs[d]);
    const double* difference = differences_.data() + d * pairs;
    for (std::size_t p = 0; p < pairs; ++p) r2[p] += weight * difference[p];
  }
  Matrix k(count_);
  std::vector<double> slope(pairs);
  matern(r2.data(), pairs, r2.data(), slope.data());
  for (std::size_t i = 0, p = 0; i < count_; ++i) {
    for (std::size_t j = 0; j < i; ++j, ++p) k.at(i, j) = signal * r2[p];
    k.at(i, i) = signal + noise;
  }
  Cholesky factor;
  if (!factor.assign(k)) return std::numeric_limits<double>::infinity();

  std::vector<double> one(count_, 1), z = y_;
  factor.solve_lower(one.data());
  factor.solve_lower(z.data());
  const double one_norm = dot(one.data(), one.data(), count_);  // 1ᵀ K⁻¹ 1
  const double level = dot(one.data(), z.data(), count_) / one_norm;
  for (std::size_t i = 0; i < count_; ++i) z[i] -= level * one[i];
  const double value =
      prior(logs, gradient) +
      0.5 * (dot(z.data(), z.data(), count_) + factor.log_determinant() + std::log(one_norm));

  // d value / d log t = ½ tr((K⁻¹ - a aᵀ - u uᵀ / 1ᵀu) dK/d log t), a = K⁻¹ (y - level), u = K⁻¹ 1;
  // the level's own derivative vanishes, because it is at its best.
  factor.solve_lower_transposed(z.data());
  factor.solve_lower_transposed(one.data());
  for (double& u : one) u /= std::sqrt(one_norm);
  Matrix inverse;
  factor.inverse(inverse);
  double by_signal = 0, by_noise = 0;
  for (std::size_t i = 0, p = 0; i < count_; ++i) {
    for (std::size_t j = 0; j < i; ++j, ++p) {
      // Twice, for (i, j) and (j, i), halved.
      const double g = inverse.at(i, j) - z[i] * z[j] - one[i] * one[j];
      by_signal += g * k.at(i, j);
      slope[p] *= g;
    }
    const double g = 0.5 * (inverse.at(i, i) - z[i] * z[i] - one[i] * one[i]);
    by_signal += g * signal;
    by_noise += g * noise;
  }
  for (std::size_t d = 0; d < width_; ++d) {
    gradient[d] += signal * weights[d] * dot(slope.data(), differences_.data() + d * pairs, pairs);
  }
  gradient[width_] += by_signal;
  gradient[width_ + 1] += by_noise;
  return value;
}

KernelParameters fit(const Layout& layout, const Rows& rows, std::span<const double> y,
                     const FitSettings& settings) {
  const std::size_t width = layout.size();
  const Posterior posterior(layout, rows, y, settings);
  std::vector<double> lower(width, std::log(0.01)), upper(width, std::log(100.0));
  lower.insert(lower.end(), {std::log(0.01), std::log(settings.smallest_noise)});
  upper.insert(upper.end(), {std::log(1e4), std::log(settings.largest_noise)});

  const Differentiable function = [&](std::span<const double> x, std::span<double> gradient) {
    return posterior(x, gradient);
  };
  // From smooth to rough: where data are few the posterior often has one hill for "one broad bowl"
  // and one for "many bumps".
  constexpr double factors[] = {1, 0.25, 3};
  Minimum best;
  for (int s = 0; s < settings.starts; ++s) {
    std::vector<double> start(width, median_log_length(width) + std::log(factors[s % 3]));
    start.insert(start.end(), {0, std::log(s == 0 ? settings.noise_median : 1e-2)});
    const Minimum end = minimize_in_box(start, lower, upper, function,
                                        {.evaluations = settings.evaluations,
                                         .gradient_tolerance = 1e-3,
                                         .value_tolerance = 1e-6,
                                         .first_step = 0.7});
    if (best.x.empty() || end.value < best.value) best = end;
  }
  KernelParameters out;
  for (std::size_t d = 0; d < width; ++d) out.length.push_back(std::exp(best.x[d]));
  out.signal = std::exp(best.x[width]);
  out.noise = std::exp(best.x[width + 1]);
  return out;
}

}  // namespace meridian::tune
