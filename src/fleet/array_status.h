// What people see of an array: the resource's status, and lines for the table of results. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "fleet/array_plan.h"
#include "fleet/array_state.h"
#include "fleet/catalog.h"

namespace meridian::fleet {

// Copies a DescribeTrainingJob answer into the row's state.
void take_description(RowState& state, const base::Json& description);

base::JsonObject array_status(const base::Json& object, const ArrayRecord& record,
                              const ArraySpec& spec, base::Timestamp now);
// Of an array whose rows or jobs cannot be made; `status.run` remembers for which run.
base::JsonObject failed_status(const base::Json& object, const base::Error& error,
                               const std::string& run, base::Timestamp now);

std::vector<ResultLine> result_lines(const base::Json& object, const ArrayRecord& record,
                                     const std::vector<std::size_t>& rows);

}  // namespace meridian::fleet
