// Runs a program of the host to its end and keeps what it printed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace meridian::run {

struct Captured {
  int exit_code = 127;  // 128 + signal for a killed one; 127: not found
  std::string output;   // standard output, at most 1 MiB; standard error is dropped
};

// Looks the program up on PATH. Blocks until it ends.
Captured capture(const std::vector<std::string>& argv);

}  // namespace meridian::run
