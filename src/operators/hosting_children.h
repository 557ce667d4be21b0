// The Model and EndpointConfig resources that a HostingDeployment stands on. Pure.
//
// Their names end with a hash of their content: an edit makes new ones beside the old, and taking
// an edit back finds the first ones again. They belong to the deployment by owner reference and
// label.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "operators/kinds.h"

namespace meridian::operators {

inline constexpr std::string_view kOwnerLabel = "owner_HostingDeployment_name";
inline constexpr std::string_view kOwnerNamespaceLabel = "owner_HostingDeployment_namespace";

// One Model per spec.models[], in their order.
std::vector<base::Json> model_resources(const base::Json& deployment);

// names: spec.models[].name → the model's name in the region.
base::Json config_resource(const base::Json& deployment,
                           const std::map<std::string, std::string>& names);

// The deployment that this child belongs to, or "".
std::string deployment_of(const base::Json& child);

}  // namespace meridian::operators
