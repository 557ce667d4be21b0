// Where to try next, given what models believe: the logarithm of the expected improvement, with
// what else counts added to it.
//
//   log EI(x) = log h((best - mean(x)) / deviation(x)) + log deviation(x)
//             + Σ log P(constraint(x) <= 0)        (Gardner et al. 2014)
//             - weight * log cost(x)               (value per money: Snoek et al. 2012)
//
// In logarithms it can be climbed where its value underflows (Ament et al. 2023).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "tune/model/gaussian_process.h"

namespace meridian::tune {

struct Acquisition {
  const GaussianProcess* objective = nullptr;
  double best = 0;  // in the model's units; the improvement is counted from here
  struct Constraint {
    const GaussianProcess* model;
    double limit;  // satisfied up to here, in that model's units
  };
  std::vector<Constraint> constraints = {};
  const GaussianProcess* log_cost = nullptr;
  double cost_weight = 0;

  // Writes the gradient by the coordinates when it is not empty.
  double operator()(std::span<const double> x, std::span<double> gradient) const;
  std::vector<double> operator()(const Rows& x) const;
};

}  // namespace meridian::tune
