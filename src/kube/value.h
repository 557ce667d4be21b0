// Small questions about JSON values that patches, schemas and field ownership share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/json_fwd.h"

namespace meridian::kube {

// Equal as JSON: numbers by value (1 is 1.0), members in any order.
bool same_value(const base::Json& a, const base::Json& b);
// The order of the numbers, exact also between integers beyond 2^53 and doubles. NaN never occurs.
int compare_numbers(const base::Json& a, const base::Json& b);

// How much a value weighs: bytes of text, roughly, and how deep it nests (a scalar is 0 deep).
struct Extent {
  std::size_t bytes = 0;
  std::size_t depth = 0;
};
Extent extent_of(const base::Json& value);

}  // namespace meridian::kube
