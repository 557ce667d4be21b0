// `meridian-init script`: the training toolkit's part inside an instance, after the daemon has
// fetched the code to /opt/ml/code and plan_launch() has made the environment.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace meridian::run {

// Installs requirements, meets the other hosts, runs the script as planned. Returns the exit code;
// on failure /opt/ml/output/failure says why, unless the script wrote one itself.
int run_script();

}  // namespace meridian::run
