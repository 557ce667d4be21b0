// SPDX-License-Identifier: Apache-2.0
#include "tune/model/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tune/model/matern.h"

namespace meridian::tune {

GaussianProcess::GaussianProcess(Layout layout, KernelParameters parameters, Rows rows,
                                 std::span<const double> y)
    : layout_(std::move(layout)),
      parameters_(std::move(parameters)),
      rows_(std::move(rows)),
      observed_(rows_.size()) {
  for (const double l : parameters_.length) inverse_squares_.push_back(1 / (l * l));
  const std::size_t n = observed_;
  Matrix k(n);
  for (std::size_t i = 0; i < n; ++i) {
    correlations(rows_.row(i), k.row(i), nullptr);
    k.at(i, i) = parameters_.signal + parameters_.noise;
  }
  while (!factor_.assign(k)) {
    parameters_.noise = std::max(10 * parameters_.noise, 1e-10 * parameters_.signal);
    for (std::size_t i = 0; i < n; ++i) k.at(i, i) = parameters_.signal + parameters_.noise;
  }
  weigh(y);
}

void GaussianProcess::weigh(std::span<const double> y) {
  const std::size_t n = observed_;
  whitened_one_.assign(n, 1);
  factor_.solve_lower(whitened_one_.data());
  one_norm_ = dot(whitened_one_.data(), whitened_one_.data(), n);
  std::vector<double> z(y.begin(), y.end());
  factor_.solve_lower(z.data());
  level_ = dot(whitened_one_.data(), z.data(), n) / one_norm_;
  for (std::size_t i = 0; i < n; ++i) z[i] -= level_ * whitened_one_[i];
  log_likelihood_ = -0.5 * (dot(z.data(), z.data(), n) + factor_.log_determinant() +
                            static_cast<double>(n) * std::log(2 * std::numbers::pi));
  factor_.solve_lower_transposed(z.data());
  weights_ = std::move(z);
  // K w = y - level, and K is the covariance of the function plus noise on the diagonal.
  for (std::size_t i = 0; i < n; ++i) means_.push_back(y[i] - parameters_.noise * weights_[i]);
}

void GaussianProcess::correlations(std::span<const double> x, double* k, double* slope) const {
  const std::size_t n = rows_.size();
  squared_distances(layout_, inverse_squares_, rows_, x, k);
  matern(k, n, k, slope);
  for (std::size_t i = 0; i < n; ++i) k[i] *= parameters_.signal;
  if (slope == nullptr) return;
  for (std::size_t i = 0; i < n; ++i) slope[i] *= parameters_.signal;
}

Prediction GaussianProcess::finish(const double* k, const double* solved) const {
  const std::size_t n = rows_.size();
  Prediction out{level_ + dot(k, weights_.data(), observed_), 0};
  const double missing = 1 - dot(whitened_one_.data(), solved, n);
  out.variance = parameters_.signal - dot(solved, solved, n) + missing * missing / one_norm_;
  out.variance = std::max(out.variance, 0.0);
  return out;
}

Prediction GaussianProcess::predict(std::span<const double> x) const {
  std::vector<double> k(rows_.size());
  correlations(x, k.data(), nullptr);
  std::vector<double> solved = k;
  factor_.solve_lower(solved.data());
  return finish(k.data(), solved.data());
}

Prediction GaussianProcess::predict(std::span<const double> x, Slopes& slopes) const {
  const std::size_t n = rows_.size(), width = layout_.size();
  std::vector<double> k(n), slope(n);
  correlations(x, k.data(), slope.data());
  std::vector<double> solved = k;
  factor_.solve_lower(solved.data());
  const Prediction out = finish(k.data(), solved.data());
  // variance = s² - |v|² + (1 - u·v)²/c with v = L⁻¹ k, u = L⁻¹ 1: its derivative by k is
  // -2 L⁻ᵀ (v + u (1 - u·v)/c).
  const double missing = 1 - dot(whitened_one_.data(), solved.data(), n);
  for (std::size_t i = 0; i < n; ++i) solved[i] += whitened_one_[i] * missing / one_norm_;
  factor_.solve_lower_transposed(solved.data());
  slopes.mean.assign(x.size(), 0);
  slopes.variance.assign(x.size(), 0);
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = rows_.values.data() + i * width;
    const double weight = i < observed_ ? weights_[i] : 0;
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (layout_[d] == Coordinate::category) continue;
      // dk/dx_d = -slope (x_d - row_d) / l_d²
      const double by_x = -slope[i] * (x[d] - row[d]) * inverse_squares_[d];
      slopes.mean[d] += weight * by_x;
      slopes.variance[d] -= 2 * solved[i] * by_x;
    }
  }
  return out;
}

std::vector<Prediction> GaussianProcess::predict(const Rows& x) const {
  const std::size_t n = rows_.size();
  std::vector<double> k(n * x.size());
  for (std::size_t i = 0; i < x.size(); ++i) correlations(x.row(i), k.data() + i * n, nullptr);
  std::vector<double> solved = k;
  factor_.solve_lower_many(solved.data(), x.size(), n);
  std::vector<Prediction> out;
  out.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    out.push_back(finish(k.data() + i * n, solved.data() + i * n));
  }
  return out;
}

void GaussianProcess::imagine(std::span<const double> x) {
  const std::size_t n = rows_.size();
  std::vector<double> row(n + 1);
  means_.push_back(predict(x).mean);
  correlations(x, row.data(), nullptr);
  row[n] = parameters_.signal + parameters_.noise;
  // A twin of an observed row without noise adds nothing that the factor could hold.
  while (!factor_.append(row)) row[n] += 1e-8 * parameters_.signal;
  rows_.add(x);
  rows_.values.resize((n + 1) * rows_.width);
  weights_.push_back(0);
  std::vector<double> ones(n + 1, 1);
  factor_.solve_lower(ones.data());
  whitened_one_ = std::move(ones);
  one_norm_ = dot(whitened_one_.data(), whitened_one_.data(), n + 1);
}

}  // namespace meridian::tune
