// What a Describe answer becomes in a job's status. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "operators/kinds.h"

namespace meridian::operators {

// Completed, Failed, Stopped: nothing follows. (A training job whose debug rules still run goes
// on.)
bool is_terminal(const Kind& kind, const base::Json& description);
bool is_terminal_word(std::string_view status);

// The whole next status of `object`, made from its present one.
base::JsonObject status_from(const Kind& kind, const base::Json& object,
                             const base::Json& description, base::Timestamp now);

// Statuses that come from us, not from the region.
base::JsonObject first_status(const Kind& kind, const base::Json& object, base::Timestamp now);
// An error that is retried: the kind's reconciling word, and when the next attempt comes.
base::JsonObject retrying_status(const Kind& kind, const base::Json& object, std::string reason,
                                 std::string message, base::Timestamp next, base::Timestamp now);
// An error that ends it.
base::JsonObject failed_status(const Kind& kind, const base::Json& object, std::string reason,
                               std::string message, base::Timestamp now);

}  // namespace meridian::operators
