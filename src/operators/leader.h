// Leader election over a Lease: of several operators one works.
//
//   Leader leader(api, clock, {.ns = "meridian-system", .name = "meridian-operator", .identity =
//   host}); if (!leader.wait_elected(stop)) return;   // stop was requested … work;
//   leader.wait_lost(stop) returns when the lease could not be renewed in time.
//
// The holder renews every `renew`; another takes over when `duration` has passed without a renewal,
// by its own clock from when it saw the last one, so clocks need not agree. Lost means: stop at
// once, a second operator may be at work.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "kube/client/api.h"

namespace meridian::operators {

struct LeaderSettings {
  std::string ns, name, identity;
  base::Duration duration{15'000}, renew{5'000};
};

class Leader {
 public:
  Leader(kube::Api& api, const base::Clock& clock, LeaderSettings settings);
  bool wait_elected(std::stop_token stop);
  void wait_lost(std::stop_token stop);
  void release();  // lets another take over at once

  // One attempt to take or renew; true while we hold it. Error: no answer.
  bool try_hold();

 private:
  base::Json lease_body(const base::Json* present) const;
  kube::Api& api_;
  const base::Clock& clock_;
  LeaderSettings settings_;
  std::string seen_renewal_;            // of somebody else's lease
  std::optional<base::Ticks> seen_at_;  // when we first saw it
  base::Ticks held_until_{};
};

}  // namespace meridian::operators
