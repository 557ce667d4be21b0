// All controllers together: caches of the kinds, the feed of the regions, one step per kind.
//
//   Operator op({api, remotes, runner, clock, random}, {.installation = id});
//   op.register_steps(steps);   // before the runner gets its first key
//   op.start();                 // lists and watches; keys follow
//
// The same in the daemon (embedded API over a local socket) and in operator mode (a cluster).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "control/runner.h"
#include "kube/client/api.h"
#include "operators/events.h"
#include "operators/feed.h"
#include "operators/remote.h"

namespace meridian::operators {

struct OperatorParts {
  kube::Api& api;
  Remotes& remotes;
  control::Runner& runner;
  const base::Clock& clock;
  base::Random& random;
};

struct OperatorSettings {
  std::string installation;        // names us in owner tags
  std::string watched_namespace;   // "" = all
  base::Duration escape{600'000};  // how long a deletion waits for a region
  // Regions whose other jobs are shown in "region-<name>" namespaces; none in operator mode.
  std::vector<std::string> mirrored_regions{};
};

class Operator {
 public:
  Operator(const OperatorParts& parts, OperatorSettings settings);
  ~Operator();
  void register_steps(control::StepTable& steps);
  void start();
  // For other controllers of the same process.
  Feed& feed();
  Events& events();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::operators
