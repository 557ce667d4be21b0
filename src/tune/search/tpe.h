// Tree-structured Parzen estimator: models where good trials lie and where others lie, and proposes
// what is likely among the former and unlikely among the latter. Cheap at any number of trials, at
// home in conditional and categorical spaces.
//
// Bergstra et al., "Algorithms for hyper-parameter optimization", 2011; both densities are mixtures
// of kernels over all coordinates together (Falkner, Klein, Hutter, "BOHB", 2018), one per trial,
// and one even kernel as prior. Pending trials count among the others, which keeps parallel
// proposals apart. Several objectives: the good ones are those of the first ranks of domination
// (Ozaki et al. 2020). Cost: O(trials · candidates · parameters) per proposal.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tune/search/strategy.h"

namespace meridian::tune {

struct TpeSettings {
  std::size_t initial = 10;     // Sobol points first
  std::size_t candidates = 48;  // drawn from the good density
  double good_share = 0.15;
  std::size_t good_limit = 25;
};

std::unique_ptr<Strategy> make_tpe(const TpeSettings& settings = {});

}  // namespace meridian::tune
