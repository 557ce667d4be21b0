// GetLogEvents and FilterLogEvents.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json_fwd.h"
#include "region/telemetry/log_store.h"

namespace meridian::region::telemetry {

base::Json get_log_events(const LogStore& logs, const base::JsonObject& in);
base::Json filter_log_events(const LogStore& logs, const base::JsonObject& in);

}  // namespace meridian::region::telemetry
