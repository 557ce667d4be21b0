// When a resource whose last attempt failed is tried again: after 5 s, doubling up to 5 minutes.
//
// Our own write of a status comes back as a change of the resource; until the time has come, a step
// that asks left() first does nothing. A new generation, or a deletion, starts over at once.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/sync.h"

namespace meridian::operators {

class Attempts {
 public:
  explicit Attempts(const base::Clock& clock) : clock_(clock) {}
  // Until the next attempt; zero when it may be made now.
  base::Duration left(const base::Json& object);
  // After a failure: how long to wait.
  base::Duration next(const base::Json& object);
  void forget(const std::string& uid);

 private:
  struct Count {
    std::int64_t generation = 0;
    bool deleting = false;
    int failures = 0;
    base::Ticks due{};
  };
  const base::Clock& clock_;
  base::Sync<std::map<std::string, Count>> counts_;
};

}  // namespace meridian::operators
