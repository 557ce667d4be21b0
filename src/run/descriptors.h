// Descriptors between this process and the ones it forks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "base/file.h"

namespace meridian::run {

struct Pipe {
  base::UniqueFd read_end, write_end;
};
Pipe make_pipe();

// After a fork: closes everything but 0, 1, 2 and these.
void close_others(std::vector<int> keep);

}  // namespace meridian::run
