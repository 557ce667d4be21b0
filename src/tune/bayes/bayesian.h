// Bayesian optimisation with a Gaussian process.
//
// The first trials are scrambled Sobol points. Then a model (model/gaussian_process.h) of the
// warped losses (model/warp.h) with MAP kernel parameters (model/fit.h) says where the log expected
// improvement (acquisition.h) is highest (climb.h). Pending trials are imagined to give what the
// model expects there. The improvement is counted from the lowest mean at a tried point, not from
// the lowest value, so that a lucky noisy measurement is not taken for the truth (Gramacy, Lee
// 2011).
//
// Jones, Schonlau, Welch 1998; Snoek, Larochelle, Adams 2012; trust region for more than eight
// coordinates: Eriksson et al., "Scalable global optimization via local Bayesian optimization",
// 2019.
//
// Cost: kernel parameters are fitted anew when the number of ended trials has grown by a tenth, on
// at most `fit_limit` of them; the model holds at most `model_limit` rows, best and latest first.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tune/search/strategy.h"

namespace meridian::tune {

struct BayesianSettings {
  std::size_t initial = 0;  // Sobol points; 0: by the number of parameters
  std::size_t fit_limit = 160;
  std::size_t model_limit = 500;
  double cost_weight = 0;  // 1: improvement per cost; 0: cost does not matter
};

std::unique_ptr<Strategy> make_bayesian(const BayesianSettings& settings = {});

}  // namespace meridian::tune
