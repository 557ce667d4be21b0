// Between a fork and the program: descriptors, and the exec at the end.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"

namespace meridian::run {

struct Pipe {
  base::UniqueFd read_end, write_end;
};
Pipe make_pipe();

// After a fork: closes everything but 0, 1, 2 and these.
void close_others(std::vector<int> keep);

// Replaces this process; on failure says so on stderr and exits 127 (not found) or 126.
[[noreturn]] void execute(const std::vector<std::string>& argv,
                          const std::map<std::string, std::string>& environment,
                          const std::string& working_directory);

}  // namespace meridian::run
