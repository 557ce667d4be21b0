// Standard conditions in status, as kubectl wait and kstatus read them.
//
// Jobs: Complete | Failed | Stopped, plus Reconciling. Long-lived kinds: Ready, plus Reconciling |
// Stalled. A condition keeps its lastTransitionTime while its status stays the same.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"

namespace meridian::operators {

struct Condition {
  std::string_view type;
  enum class Status { yes, no, unknown } status = Status::yes;
  std::string reason;  // one word in upper camel case
  std::string message;
};

// Sets or changes one condition of `status.conditions`.
void set_condition(base::JsonObject& status, const Condition& condition, std::int64_t generation,
                   base::Timestamp now);
void clear_condition(base::JsonObject& status, std::string_view type);
// "True", "False", "Unknown", or "" when there is none.
std::string condition_status(const base::Json& object, std::string_view type);

}  // namespace meridian::operators
