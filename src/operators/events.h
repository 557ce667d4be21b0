// Kubernetes Events about a resource: what `kubectl describe` shows at its end.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "kube/client/api.h"

namespace meridian::operators {

enum class EventType { normal, warning };

class Events {
 public:
  Events(kube::Api& api, const base::Clock& clock, base::Random& random);
  // Never throws: an event that cannot be written is logged.
  void write(const base::Json& about, EventType type, const std::string& reason,
             const std::string& message);

 private:
  kube::Api& api_;
  const base::Clock& clock_;
  base::Random& random_;
};

}  // namespace meridian::operators
