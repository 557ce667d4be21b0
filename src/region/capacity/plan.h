// Who gets instances when: pure functions of what is held and who waits.
//
// Conservative back-fill: gangs are taken in order of priority, then arrival, and each gets the
// earliest time at which it fits beside everything placed before it. Those whose time is now are
// granted. What is held without a bound never ends as far as the plan knows; a gang that therefore
// has no time at all closes its pools to everybody behind it. So does one that stands behind
// kPlanned others of its pool: a plan costs the same however long the queue is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
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

// Slots taken in one pool, as a step function of time.
class Profile {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  void place(std::int64_t from, std::int64_t until, int slots);
  // The earliest time from `start` on that leaves `slots` of `size` free for `length`.
  std::int64_t earliest(std::int64_t start, std::int64_t length, int slots, int size) const;

 private:
  struct Step {
    std::int64_t at;
    int taken;  // from `at` to the next step
  };
  std::size_t index_at(std::int64_t time) const;
  void cut(std::int64_t at);
  std::vector<Step> steps_{{std::numeric_limits<std::int64_t>::min(), 0}};
};

// The plan of one instant, made gang by gang in queue order.
class Plan {
 public:
  static constexpr std::size_t kPlanned = 256;  // waiting gangs of a pool that get a time

  explicit Plan(Demand sizes) : sizes_(std::move(sizes)) {}
  // All that is held, before the first place().
  void hold(const Demand& demand, std::optional<base::Timestamp> until, base::Timestamp now);
  // When the next gang is promised to fit; nothing when no time is known. `now` may have moved on
  // since the last call.
  std::optional<base::Timestamp> place(const Demand& demand, std::optional<base::Duration> at_most,
                                       base::Timestamp now);
  // Nobody behind gets a time in that pool.
  bool closed(const std::string& pool) const;
  std::size_t planned(const std::string& pool) const;  // gangs placed in it so far

 private:
  struct Row {
    Profile profile;
    std::size_t planned = 0;
    bool closed = false;
  };
  std::int64_t earliest(const Demand& demand, std::int64_t now, std::int64_t length);

  Demand sizes_;
  std::map<std::string, Row> rows_;
};

// A lease that may be taken back.
struct Reclaimable {
  std::string owner;
  Demand demand;
  int priority = 0;
  base::Timestamp since{};
};

// Whose leases to take back so that `missing` more slots are free: the lowest priority first, then
// the youngest, and none in vain. Nobody when all of them are not enough.
std::vector<std::string> plan_reclaim(const Demand& missing, std::vector<Reclaimable> leases);

struct Verdict {
  std::string owner;
  bool granted = false;
  std::optional<base::Timestamp> expected;  // when it is promised to fit, where that is known
};

// One verdict per waiting gang, in queue order.
std::vector<Verdict> plan_grants(const Demand& sizes, const std::vector<Held>& held,
                                 std::vector<Waiting> waiting, base::Timestamp now);

}  // namespace meridian::region::capacity
