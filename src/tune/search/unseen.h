// No configuration is tried twice while one remains that was never tried.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tune/space/trial.h"

namespace meridian::tune {

// Spaces with more points than this are searched by chance instead of being listed.
inline constexpr std::size_t listed_points = 1u << 16;

// `wanted` when it is new; else a point that is, close at hand: drawn by chance, in small finite
// spaces from the list of those that remain. `wanted` again when no point remains. Depends on
// (problem, history, wanted).
Point prefer_unseen(const Problem& problem, const History& history, Point wanted);

// Whether every point of a finite space was seen. False for spaces beyond `listed_points`.
bool is_exhausted(const Problem& problem, const History& history);

}  // namespace meridian::tune
