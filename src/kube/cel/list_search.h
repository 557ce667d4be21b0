// Where a value stands in a list: the part of indexOf that is not about texts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kube/cel/value.h"

namespace meridian::kube::cel {

// -1 when it is not there.
Value first_index(const Value& list, const Value& wanted, Meter& meter);
Value last_index(const Value& list, const Value& wanted, Meter& meter);

}  // namespace meridian::kube::cel
