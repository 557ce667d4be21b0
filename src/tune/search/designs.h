// Strategies that do not learn: chance, even cover, every combination.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tune/search/strategy.h"

namespace meridian::tune {

// Independent draws, even in the scaled ranges (Bergstra, Bengio 2012). Trial n depends on (seed,
// n) only, unless its point was seen already.
std::unique_ptr<Strategy> make_random();

// Scrambled Sobol points (numeric/sobol.h): as random, but any prefix covers the space evenly.
std::unique_ptr<Strategy> make_sobol();

struct GridSettings {
  int levels = 5;  // of a continuous parameter, ends included, even in its scaled range
};
// Each combination once, in order, the first parameter slowest; integers with all their values.
// Proposes nothing when all were tried. Throws Error(invalid_argument) on the first proposal when
// the grid has more than 2^20 combinations.
std::unique_ptr<Strategy> make_grid(const GridSettings& settings = {});

}  // namespace meridian::tune
