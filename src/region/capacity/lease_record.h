// A lease as its document says it. Private to this folder.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "region/capacity/capacity.h"
#include "store/store.h"

namespace meridian::region::capacity {

struct Record {
  std::string owner;
  std::map<std::string, int> instances;
  int priority = 0;
  bool reclaimable = false;
  std::int64_t arrival = 0;
  std::optional<base::Duration> at_most;
  bool granted = false;
  std::optional<base::Timestamp> granted_at;
  std::map<std::string, std::vector<int>> slots;  // pool → slot numbers
  std::vector<int> gpus;

  // The bound; nothing when there is none, or it waits.
  std::optional<base::Timestamp> until() const;
};

std::string encode(const Record& record);
Record decode(const store::Document& document);  // Error(data_loss)
Lease to_lease(const Record& granted);

}  // namespace meridian::region::capacity
