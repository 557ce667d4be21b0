// `meridian operator run`: the controllers against a cluster, until a signal or a lost lease.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/json_fwd.h"
#include "cli/cli.h"

namespace meridian {

int run_operator(const cli::OperatorOptions& options);
std::vector<base::Json> operator_manifests(const cli::ManifestOptions& options);

}  // namespace meridian
