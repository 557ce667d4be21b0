// The constraints of API shapes, in AWS's words. Internal to aws; see inspect in model.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "aws/model.h"
#include "base/json_fwd.h"

namespace meridian::aws {

// A value as messages show it: text bare, lists in brackets, long ones cut.
std::string shown(const base::Json& value);

// Each constraint of the shape that the value breaks: "Member must have length less than …".
std::vector<std::string> broken_constraints(const Shape& shape, const base::Json& value);

// All constraints of a scalar shape, as AWS lists them for elements and keys.
std::vector<std::string> all_constraints(const Shape& shape);

}  // namespace meridian::aws
