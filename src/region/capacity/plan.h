// Who gets instances now: a pure function of what is held and who waits.
//
// Conservative back-fill: gangs are taken in order of priority, then arrival, and each gets the
// earliest time at which it fits beside everything placed before it. Those whose time is now are
// granted. What is held without a bound never ends as far as the plan knows; a gang that therefore
// has no time at all closes its pools to everybody behind it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace meridian::region::capacity {

using Demand = std::map<std::string, int>;  // pool → slots

struct Held {
  std::string owner;
  Demand demand;
  std::optional<base::Timestamp> until;  // the bound; nothing = none
};

struct Waiting {
  std::string owner;
  Demand demand;
  int priority = 0;
  std::int64_t arrival = 0;
  std::optional<base::Duration> at_most;
};

struct Verdict {
  std::string owner;
  bool granted = false;
  std::optional<base::Timestamp> expected;  // when it is promised to fit, where that is known
  std::vector<std::string> behind;          // the first of those ahead of it in its pools
  std::size_t ahead = 0;                    // how many those are
};

// One verdict per waiting gang, in queue order.
std::vector<Verdict> plan_grants(const Demand& sizes, const std::vector<Held>& held,
                                 std::vector<Waiting> waiting, base::Timestamp now);

}  // namespace meridian::region::capacity
