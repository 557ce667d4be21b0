// Says in each namespace that an operator is at work there: a Lease that is renewed.
//
// A resource in a namespace that no operator covers gets no status and no word about it; the Lease
// makes that detectable (`meridian apply` and `describe` warn, cli/coverage.h). It stands in the
// namespaces that hold resources of ours, and in the one that is watched, if only one is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/clock.h"
#include "control/runner.h"
#include "kube/client/api.h"

namespace meridian::operators {

inline constexpr std::string_view kHeartbeatLease = "meridian-operator-heartbeat";

class Heartbeat {
 public:
  static constexpr std::string_view kStep = "heartbeat";
  static constexpr base::Duration kRenew{60'000}, kHold{180'000};

  // covered: the namespaces, as of now.
  Heartbeat(kube::Api& api, const base::Clock& clock, std::string identity,
            std::function<std::set<std::string>()> covered);
  control::Outcome step(const control::Key& key);

 private:
  void beat(const std::string& ns);

  kube::Api& api_;
  const base::Clock& clock_;
  const std::string identity_;
  const std::function<std::set<std::string>()> covered_;
};

}  // namespace meridian::operators
