// CustomResourceDefinitions of our kinds (apiextensions.k8s.io/v1), generated from the API model.
//
// The same definitions serve the embedded API, `meridian operator manifests` and a real cluster.
// Rules that a schema cannot say are CEL where they are cheap; the rest is admission's.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/json.h"
#include "operators/kinds.h"

namespace meridian::operators {

base::Json crd_of(const Kind& kind);
std::vector<base::Json> all_crds();

// openAPIV3Schema of the parts, for tests and explanations.
base::JsonObject spec_schema(const Kind& kind);
base::JsonObject status_schema(const Kind& kind);

}  // namespace meridian::operators
