// A service job as its document says it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "store/store.h"

namespace meridian::region::batch {

struct ServiceRecord {
  base::JsonObject request;  // as SubmitServiceJob got it
  std::string id, queue, status = "SUBMITTED", reason;
  int priority = 0, attempt = 0;  // attempt: the one under way or the last, from 1
  bool terminated = false;
  base::Timestamp created{};
  std::optional<base::Timestamp> scheduled, started, stopped;
  base::JsonArray attempts;  // that ended, as DescribeServiceJob shows them

  store::Revision revision = 0, created_revision = 0;

  bool ended() const { return status == "SUCCEEDED" || status == "FAILED"; }
  bool holds() const;  // capacity of its environment
};

store::Write write_of(const std::string& prefix, const ServiceRecord& record);
ServiceRecord parse_service_record(const store::Document& document);
std::string service_key(const std::string& prefix, const std::string& id);

// The CreateTrainingJob request of an attempt: the payload with a name of its own.
base::JsonObject training_request(const ServiceRecord& record);
std::string training_name(const ServiceRecord& record);
int instances_of(const ServiceRecord& record);
// Whether an attempt that ended for `reason` is made again (evaluateOnExit; no match: yes).
bool is_made_again(const ServiceRecord& record, const std::string& reason);

}  // namespace meridian::region::batch
