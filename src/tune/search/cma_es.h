// CMA-ES: a normal distribution of configurations that moves, stretches and turns towards the
// better ones. For many trials (a hundred times the parameters) of numbers that depend on each
// other.
//
// Hansen, "The CMA evolution strategy: a tutorial" (2016), with its default constants, in the unit
// cube from its middle with step 1/6. Each λ results, in the order of tells, make one generation,
// whatever generation they were drawn in: trials may run in parallel and end in any order. Draws
// outside of the cube are drawn again, up to 100 times, then clipped. Integers are relaxed; a
// standard deviation never falls below a fifth of an integer's share (Hamano et al. 2022 has the
// better cure). Categories do not move with the distribution: they are drawn in proportion to their
// counts among the better half so far, smoothed by one.
//
// The state is computed by playing the history again; a cache keeps what was played.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tune/search/strategy.h"

namespace meridian::tune {

struct CmaEsSettings {
  std::size_t population = 0;  // λ; 0: 4 + 3 ln(coordinates)
  double step = 1.0 / 6;
};

std::unique_ptr<Strategy> make_cma_es(const CmaEsSettings& settings = {});

}  // namespace meridian::tune
