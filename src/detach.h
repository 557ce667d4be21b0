// `meridian up --detach`: the same program again, in a session of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/cli.h"

namespace meridian {

// Starts the daemon in the background with its output in DATA/daemon.log and returns once it serves
// (prints where) or has failed (prints its last words). Exit status for main.
int start_detached(const cli::UpOptions& options);

}  // namespace meridian
