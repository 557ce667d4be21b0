// Several objectives at once: which results are dominated, and how much of the space a front
// covers. All values are losses: less is better.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tune/space/trial.h"

namespace meridian::tune {

using Losses = std::vector<double>;

// a is nowhere worse than b, and somewhere better.
bool dominates(const Losses& a, const Losses& b);

// The rank of each: 0 for those that nothing dominates, 1 for those that only rank 0 dominates, …
// (Deb et al. 2002). O(n² m).
std::vector<std::size_t> domination_ranks(const std::vector<Losses>& losses);

// Numbers of the complete, feasible trials that no other dominates, in the order of their numbers.
std::vector<std::size_t> pareto_front(const Problem& problem, const History& history);

// The volume that the points dominate up to `reference`; points not better than it in every
// objective add nothing. Exact, by slices along the last objective (WFG-like recursion; While et
// al. 2012): fit for up to a few hundred points of three or four objectives.
double hypervolume(std::vector<Losses> points, const Losses& reference);

}  // namespace meridian::tune
