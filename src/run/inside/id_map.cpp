// SPDX-License-Identifier: Apache-2.0
#include "run/inside/id_map.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/error.h"

namespace meridian::run {
namespace {

void add_range(std::string& map, std::uint64_t from, std::uint64_t to, std::uint64_t count) {
  if (count == 0) return;
  map += std::to_string(from) + " " + std::to_string(to) + " " + std::to_string(count) + "\n";
}

// uid_map lines under which `a` and `b` change places.
std::string exchange(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kEnd = 4294967295;  // (uid)-1 is no identity
  std::string map;
  if (a == b) {
    add_range(map, 0, 0, kEnd);
    return map;
  }
  const auto [low, high] = std::minmax(a, b);
  add_range(map, 0, 0, low);
  add_range(map, low, high, 1);
  add_range(map, low + 1, low + 1, high - low - 1);
  add_range(map, high, low, 1);
  add_range(map, high + 1, high + 1, kEnd - high - 1);
  return map;
}

void write_map(const std::string& process, const char* name, const std::string& text) {
  const base::UniqueFd fd = base::open_file(process + "/" + name, O_WRONLY);
  base::write_all(fd.get(), text);
}

// The child's side: a new user namespace, and the name of this process as the mounted /proc has it
// (another PID namespace's perhaps, so that the parent's number for it would mislead).
[[noreturn]] void own_namespace(int answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  char name[32];
  const ssize_t length = readlink("/proc/self", name, sizeof name);
  if (length > 0 && unshare(CLONE_NEWUSER) == 0 && write(answer, name, length) == length) pause();
  _exit(1);
}

}  // namespace

base::UniqueFd make_exchanging_namespace(Identity on_disk, Identity inside) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) throw base::errno_error(errno, "cannot make a pipe");
  base::UniqueFd read_end(ready[0]), write_end(ready[1]);
  const pid_t pid = fork();
  if (pid < 0) throw base::errno_error(errno, "cannot fork");
  if (pid == 0) own_namespace(write_end.get());
  write_end.reset();
  base::UniqueFd result;
  char name[32];
  try {
    const ssize_t length = read(read_end.get(), name, sizeof name);
    if (length > 0) {
      const std::string process = "/proc/" + std::string(name, static_cast<std::size_t>(length));
      write_map(process, "uid_map", exchange(on_disk.user, inside.user));
      write_map(process, "gid_map", exchange(on_disk.group, inside.group));
      result = base::open_file(process + "/ns/user", O_RDONLY);
    }
  } catch (...) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    throw;
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  if (!result) {
    throw base::Error(base::Code::failed_precondition,
                      "the kernel refused a user namespace for an id-mapped mount");
  }
  return result;
}

}  // namespace meridian::run
