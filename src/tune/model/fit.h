// The kernel's parameters that observations and a prior make most probable (MAP).
//
//   KernelParameters p = fit(layout, rows, y);     // y: mean 0, variance 1
//
// log posterior = log likelihood (constant mean integrated out: REML) + log prior, with its
// analytic gradient, climbed from fixed starts in log space. Priors: length scales log-normal with
// a median that grows with the square root of the number of coordinates (Hvarfner, Hellsten, Nardi,
// "Vanilla Bayesian optimization performs great in high dimensions", 2024), so that many
// coordinates mean a smoother function, not a blind one; noise log-normal around a small value,
// wide enough for noisy objectives.
//
// A function of its arguments: the same observations give the same parameters.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "tune/model/kernel.h"

namespace meridian::tune {

struct FitSettings {
  int starts = 2;
  int evaluations = 20;        // per start
  double noise_median = 1e-5;  // of the variance of y
  double noise_spread = 3;     // standard deviation of its logarithm
  double smallest_noise = 1e-9;
  double largest_noise = 1;
};

KernelParameters fit(const Layout& layout, const Rows& rows, std::span<const double> y,
                     const FitSettings& settings = {});

// The negative log posterior that fit minimises and its gradient, by the logarithms of
// (length…, signal, noise). Infinite where the matrix cannot be factored.
class Posterior {
 public:
  Posterior(const Layout& layout, const Rows& rows, std::span<const double> y,
            const FitSettings& settings);

  std::size_t size() const { return width_ + 2; }
  double operator()(std::span<const double> logs, std::span<double> gradient) const;

 private:
  double prior(std::span<const double> logs, std::span<double> gradient) const;

  std::size_t width_, count_;
  FitSettings settings_;
  std::vector<double> y_;
  std::vector<double> differences_;  // per coordinate, the pairs i > j in rows of the triangle
};

}  // namespace meridian::tune
