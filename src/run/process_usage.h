// What an instance consumes: its control groups' accounts, else the sum over its processes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "run/instance.h"
#include "run/records.h"

namespace meridian::run {

// Zeros once the instance is gone. `disk_bytes` is not measured here: the caller knows which
// directories count.
Usage read_usage(const RunningRecord& record);
// Of the children that this process has waited for, and theirs.
Usage usage_of_all_children();

}  // namespace meridian::run
