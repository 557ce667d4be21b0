// Search expressions over a job's description: filters, nested filters, sub-expressions. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace meridian::region::training {

// The values of a property: "TrainingJobStatus", "HyperParameters.lr", "Tags.team",
// "Metrics.accuracy", "InputDataConfig.DataSource.S3DataSource.S3Uri" (one per channel).
std::vector<base::Json> property_values(const base::Json& job, std::string_view property);

// Whether the job satisfies a SearchExpression. ApiError(ValidationException) for an operator that
// does not fit or an expression that is too deep.
bool matches_expression(const base::Json& job, const base::Json& expression, int depth = 0);

// Less than, for sorting: numbers by value, texts by bytes, absent last.
bool property_less(const base::Json& a, const base::Json& b, std::string_view property);

}  // namespace meridian::region::training
