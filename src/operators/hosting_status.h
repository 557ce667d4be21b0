// What DescribeEndpoint becomes in a deployment's status. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/json.h"

namespace meridian::operators {

// `config`: the wanted configuration's name in the region. `models`: spec name → name in the
// region.
base::JsonObject hosting_status(const base::Json& deployment, const base::Json& description,
                                const std::string& config, base::Timestamp now);

}  // namespace meridian::operators
