// A Gaussian process after its observations: what the function may be, anywhere.
//
//   GaussianProcess model(layout, parameters, rows, y);
//   Prediction p = model.predict(x);        // of the function, not of a noisy measurement
//   model.imagine(x);                       // as if x had been measured and gave its mean
//
// The prior mean is a constant, estimated by generalised least squares from the observations; its
// uncertainty is part of the variance (universal kriging with a constant), so that far from all
// data the model does not pretend to know the level.
//
// A value. Concurrent const calls are safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "tune/model/kernel.h"
#include "tune/numeric/cholesky.h"

namespace meridian::tune {

struct Prediction {
  double mean = 0;
  double variance = 0;  // never negative
};

// With derivatives by the coordinates; those by categories are zero.
struct Slopes {
  std::vector<double> mean;
  std::vector<double> variance;
};

class GaussianProcess {
 public:
  // At least one observation. Where the matrix is too close to singular for doubles, the noise is
  // raised (tenfold, from 1e-10 of the signal) until it is not.
  GaussianProcess(Layout layout, KernelParameters parameters, Rows rows, std::span<const double> y);

  std::size_t size() const { return rows_.size(); }  // imagined ones included
  const KernelParameters& parameters() const { return parameters_; }
  const Rows& rows() const { return rows_; }
  double level() const { return level_; }                        // the prior mean
  double mean_at(std::size_t row) const { return means_[row]; }  // predict(row).mean, for nothing

  Prediction predict(std::span<const double> x) const;
  Prediction predict(std::span<const double> x, Slopes& slopes) const;
  // Of several points at once; the same bits as one by one, faster.
  std::vector<Prediction> predict(const Rows& x) const;

  // Adds an observation at x that is exactly the mean: leaves every mean as it is and shrinks the
  // variance around x ("kriging believer": Ginsbourger, Le Riche, Carraro 2010).
  void imagine(std::span<const double> x);

  // log p(y | parameters), the level taken at its best.
  double log_likelihood() const { return log_likelihood_; }

 private:
  void correlations(std::span<const double> x, double* k, double* slope) const;
  Prediction finish(const double* k, const double* solved) const;
  void weigh(std::span<const double> y);

  Layout layout_;
  KernelParameters parameters_;
  Rows rows_;
  std::size_t observed_ = 0;
  std::vector<double> inverse_squares_;  // 1 / l²
  Cholesky factor_;
  std::vector<double> weights_;       // K⁻¹ (y - level); zero for imagined rows
  std::vector<double> whitened_one_;  // L⁻¹ 1
  double one_norm_ = 0;               // 1ᵀ K⁻¹ 1
  double level_ = 0;
  std::vector<double> means_;  // at the rows
  double log_likelihood_ = 0;
};

}  // namespace meridian::tune
