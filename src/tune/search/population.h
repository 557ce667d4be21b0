// Population-based training: a few trainings side by side; after each stretch the worst copy
// weights and hyperparameters of the best and change the latter a little. Finds schedules, not
// values.
//
// Jaderberg et al., "Population based training of neural networks", 2017: truncation selection (the
// last fifth copies one of the first fifth), then each number is multiplied by 0.8 or 1.2
// or drawn anew, and each category kept or drawn anew.
//
// Each stretch is a trial: `member` says whose, `parent` from which trial's checkpoint it goes on,
// `budget` the resource in all. Proposes nothing while every member runs, and when all members had
// all their stretches. A failed stretch goes on from a member of the first fifth.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tune/search/strategy.h"

namespace meridian::tune {

struct PopulationSettings {
  std::size_t members = 8;
  std::size_t stretches = 10;
  double stretch = 1;    // resource
  double share = 0.2;    // that copies, and that is copied
  double redraw = 0.25;  // chance of a parameter to be drawn anew when it is changed
};

std::unique_ptr<Strategy> make_population(const PopulationSettings& settings = {});

}  // namespace meridian::tune
