// The best placement of a few rows, by branch and bound over the orders of rows and their options.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fleet/placement/schedule.h"

namespace meridian::fleet::placement {

struct Searched {
  Solution best;
  bool complete = false;  // nothing is less than it; else the nodes ran out
};
// Never worse than `start`. Of equal solutions the first found stays: the same problem gives the
// same answer.
Searched search(const Model& model, Goal goal, const Limits& limits, Solution start, long nodes);

}  // namespace meridian::fleet::placement
