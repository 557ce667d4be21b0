// The kinds that are served without a definition.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kubeserver/kinds/registry.h"

namespace meridian::kubeserver::kinds {

// In no order; each with its schema. Made once.
const std::vector<ServedPtr>& builtin_resources();

// The schemas as text, in builtin_schemas.cpp: what kubectl explains and what unknown fields are
// measured by. Facts of Kubernetes' API reference, v1.32.
std::string builtin_schema(std::string_view kind);

// The hooks, by kind.
extern const Kind kNamespace, kEvent, kEventsEvent, kConfigMap, kSecret, kServiceAccount, kLease,
    kDefinition, kReview;

}  // namespace meridian::kubeserver::kinds
