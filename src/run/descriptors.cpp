// SPDX-License-Identifier: Apache-2.0
#include "run/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace meridian::run {

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw base::errno_error(errno, "cannot make a pipe");
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

void close_others(std::vector<int> keep) {
  std::ranges::sort(keep);
  unsigned from = 3;
  for (const int fd : keep) {
    if (fd < 3) continue;
    if (static_cast<unsigned>(fd) > from) close_range(from, static_cast<unsigned>(fd) - 1, 0);
    from = static_cast<unsigned>(fd) + 1;
  }
  close_range(from, ~0U, 0);
}

}  // namespace meridian::run
