// Good placements of many rows, and how far from the best they are at most.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fleet/placement/schedule.h"

namespace meridian::fleet::placement {

// Lists of the rows by several orders, each row taking the option that costs least within the
// limits, counting the pools' prices that relax_cost() found; the best of them. For time: the
// shortest end for which such a list places as many rows, by bisection.
Solution place_by_lists(const Model& model, Goal goal, const Limits& limits);

// Lower bounds for any placement of the rows of `solution` that do not wait.
//
// Cost: capacity until the deadline is relaxed with a price per instance-hour of each pool
// (Lagrange multipliers by subgradient steps), and a copy is shared out over all rows that could
// use it: min over prices of sum over rows of their cheapest option.
// Time: no row ends before its own fastest option does; and for any weights of the pools that sum
// to 1 over their slots, the weighted instance-hours of all rows take at least that long.
struct Relaxed {
  double bound = 0;
  std::vector<double> prices;  // by pool, per instance and hour
};
Relaxed relax_cost(const Model& model, const Solution& solution, double deadline);
double relax_time(const Model& model, const Solution& solution);

}  // namespace meridian::fleet::placement
