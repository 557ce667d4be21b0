// A specification with $(row.COLUMN) in it, filled from a row.
//
// A text that is one reference and nothing else takes the column's value with its type; within a
// longer text the value is written as text. "$$(" is a "$(" that stays.
//
// Pure; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "aws/model.h"
#include "base/json.h"

namespace meridian::fleet {

// Columns that the template names. Error(invalid_argument): a reference of another form, with the
// path of the text it stands in.
std::set<std::string> columns_of(const base::Json& specification);

// Error(invalid_argument): a column that the row does not have, or whose value is null.
base::Json fill(const base::Json& specification, const base::JsonObject& row);

// Brings values to the types that the API wants where only the type of a column differs: numbers
// where it wants text, text that is a number where it wants a number.
base::Json conform(const aws::Shape& shape, base::Json value);

}  // namespace meridian::fleet
