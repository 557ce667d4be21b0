// Successive halving that continues trials instead of stopping them: many configurations get a
// little, the better third of those that have it gets three times as much, from its checkpoint.
//
// ASHA (Li et al., "A system for massively parallel hyperparameter tuning", MLSys 2020): a trial is
// promoted as soon as it is among the best 1/reduction of its rung, without waiting for the others.
// New configurations come from another strategy, which sees only trials of the highest rung that
// has enough of them (Falkner et al., "BOHB", 2018).
//
// A promoted trial is a new trial with the same point: `parent` says whose checkpoint, `budget` the
// resource it may use in all. Only complete trials are promoted; failed ones are not tried again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tune/search/early_stopping.h"
#include "tune/search/strategy.h"

namespace meridian::tune {

// `source` null: random search.
std::unique_ptr<Strategy> make_promotion(const HyperbandSettings& settings = {},
                                         std::unique_ptr<Strategy> source = nullptr);

}  // namespace meridian::tune
