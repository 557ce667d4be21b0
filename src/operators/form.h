// Between the spec that a person writes and the request that the API takes.
//
// A spec is the API's input with its members in lower camel case ("trainingJobName"), and with maps
// of text written as lists of {name, value}. A few keys are spelled as the original operator
// spelled them; both spellings are taken. The same table makes the CRD schemas, so what a schema
// admits is what can be sent.
//
// Pure; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "aws/model.h"
#include "base/json.h"

namespace meridian::operators {

// Keys of a spec under which a member may stand; the first is the one we write.
std::vector<std::string> keys_of(const aws::Shape& shape, const aws::Member& member);

// The API's value for a spec's value. Keys are found without regard to case, as the original did.
// Unknown keys are left out: admission has refused them before.
base::Json to_api(const aws::Shape& shape, const base::Json& spec);
// The spec's value for an API's value (children that a tuning job made, mirrors).
base::Json from_api(const aws::Shape& shape, const base::Json& value);

// openAPIV3Schema of a shape: types, required, bounds, enumerations, patterns (those that RE2 can
// read; lengths past 1,000 in a pattern are left to min and max).
base::JsonObject schema_of(const aws::Shape& shape);

// {"type": "array", "items": {name, value}}: how a map of text is written.
base::JsonObject name_value_schema(const aws::Shape& map);

}  // namespace meridian::operators
