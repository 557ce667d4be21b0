// How long work takes that is interrupted now and then, and goes on from its last checkpoint.
//
// With interruptions as a Poisson process of rate λ, checkpoints every τ hours of work that take δ
// each, and a restart that takes R (and may be interrupted itself), W hours of work take
//
//   E[T] = W/τ · e^{λR} · (e^{λ(τ+δ)} − 1) / λ
//
// (J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps",
// Future Generation Computer Systems 22(3), 2006). For λ → 0 that is W·(τ+δ)/τ. A gang is
// interrupted by each of its instances: λ = instances × rate of one. Without interruptions by
// design (on demand) nothing is lost, and the time of checkpoints is part of the work.
//
// The money of E[T] − W is the expected lost work of a row on spot.
//
// Pure; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fleet/placement/problem.h"

namespace meridian::fleet::placement {

// Hours in the mean; infinite where it would never end. `rate` 0 gives `work`.
double expected_hours(double work, double rate, const Checkpoints& checkpoints);

}  // namespace meridian::fleet::placement
