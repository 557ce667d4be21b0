// Where and when every row of an array runs, what that costs, and why.
//
//   const Plan plan = make_plan(problem);
//   for (const Candidate& c : explain(problem, plan, 7)) …
//
// Promises, each tested:
//   1. No pool holds more than its instances less its reserve at any time; no row leaves its
//      allowed regions; the expected cost never passes the hard budget; what is placed ends by the
//      deadline. Rows that this leaves no place for wait, and say why; as few as can be.
//   2. Up to kExactRows rows the plan is the best there is (`exact`), unless the search ran out of
//      nodes. For more rows, `bound` says what no plan for the placed rows could go below.
//   3. The same problem gives the same plan, whatever the machine and the hour.
//   4. Of exact plans: more capacity never makes one worse. (Lists have anomalies: R. L. Graham,
//      "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17(2), 1969.)
//   5. The terms of a row's cost, and the rows' costs, sum to the totals.
//
// Pure; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fleet/placement/problem.h"

namespace meridian::fleet::placement {

inline constexpr std::size_t kExactRows = 9;

struct Cost {
  double instances = 0;  // USD, for the work itself
  double copy = 0;       // of data, on the row that makes the copy
  double lost = 0;       // expected work lost by reclaims, checkpoints and restarts (spot.h)
  double total() const { return instances + copy + lost; }
};

struct Placement {
  bool waits = true;
  std::string reason;  // why it waits
  std::string region, zone;
  Market market = Market::on_demand;
  bool priced = true;  // else its cost holds nothing for instances
  Cost cost;
  std::string copied_from;  // not empty: the row reads a copy of its data, made from there
  bool copies = false;      // and it is the row that makes it
  double copy_end = 0, start = 0, end = 0;  // hours from now
  std::optional<double> on_demand_from;     // spot until then at the latest (SpotPolicy::deadline)
};

struct Plan {
  std::vector<Placement> rows;  // as Problem::rows
  Cost cost;
  double end = 0;            // hours from now until the last row is done
  std::size_t waiting = 0;   // rows
  std::size_t unpriced = 0;  // placed rows without a price
  bool exact = false;
  double bound = 0;  // USD, or hours for Objective::time: of the placed rows no plan has less
  double gap = 0;    // (value − bound) / value; 0 when exact
  double images_per_second = 0;    // of what runs at once, at most
  std::vector<std::string> notes;  // "the soft budget of 10.00 USD is passed"
};
// Error(invalid_argument) as check().
Plan make_plan(const Problem& problem);

// An offer that the row could have taken, given where the others are.
struct Candidate {
  std::string region, zone;
  Market market = Market::on_demand;
  bool chosen = false;
  std::string ruled_out;  // by what; empty = possible
  std::string flip;       // what it would take to be chosen; empty for the chosen one
  bool priced = true;
  Cost cost;
  double start = 0, end = 0;  // hours from now; meaningless where ruled out for good
};
std::vector<Candidate> explain(const Problem& problem, const Plan& plan, std::size_t row);

}  // namespace meridian::fleet::placement
