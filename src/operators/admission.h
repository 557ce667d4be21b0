// What a schema cannot say about our kinds, with a hint on each: the same rules for the embedded
// API and for the validating webhook of operator mode. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "kube/status.h"
#include "operators/kinds.h"

namespace meridian::operators {

struct Review {
  std::vector<kube::Cause> causes;    // empty = admitted
  std::vector<std::string> warnings;  // shown by kubectl as "Warning: …"
};

// `old_object`: null on creation. Also called for objects that the schema refuses, so that hints
// stand beside the schema's causes; nothing about the shape may be taken for granted.
Review review(const Kind& kind, const base::Json& object, const base::Json* old_object);

}  // namespace meridian::operators
