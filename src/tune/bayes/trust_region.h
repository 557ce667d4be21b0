// The part of a large space that is searched now: a box around the best trial that grows while
// trials improve on it and shrinks while they do not (TuRBO-1: Eriksson, Pearce, Gardner, Turner,
// Poloczek, "Scalable global optimization via local Bayesian optimization", NeurIPS 2019).
//
// Its size is found by playing the history again, so it needs no memory of its own. When it has
// become too small it starts over at full size around the best.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "tune/bayes/climb.h"

namespace meridian::tune {

struct TrustRegionSettings {
  double first = 0.8;  // length of a side, in the unit cube
  double largest = 1.6;
  double smallest = 1.0 / 128;
  int successes = 3;         // in a row: twice as long
  std::size_t failures = 4;  // in a row: half as long; at least the number of coordinates
};

// The length after these losses, in the order of tells.
double trust_length(std::span<const double> losses, std::size_t coordinates,
                    const TrustRegionSettings& settings = {});

// The box of that length around `centre`, longer where the function is smoother: sides go with the
// model's length scales at equal volume. Clipped to [0, 1].
Box trust_box(std::span<const double> centre, std::span<const double> scales, double length);

}  // namespace meridian::tune
