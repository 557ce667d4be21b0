// status.conditions as Kubernetes' own kinds have them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.h"
#include "base/json.h"

namespace meridian::kubeserver::objects {

struct Condition {
  std::string type, status, reason, message;
};

// Adds or replaces the condition of that type. Its time changes only when its status does. Says
// whether anything changed.
bool set_condition(base::Json& object, const Condition& condition, base::Timestamp now);

}  // namespace meridian::kubeserver::objects
