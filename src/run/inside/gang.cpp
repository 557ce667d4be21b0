// SPDX-License-Identifier: Apache-2.0
#include "run/inside/gang.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "base/error.h"
#include "run/inside/view.h"
#include "run/members.h"
#include "run/message.h"

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

constexpr base::Duration kPatience{10'000};

void spawn_holder(const InstanceSpec& spec) {
  const std::string directory = spec.gang_directory.string();
  const std::string user = std::to_string(program_user(spec));
  const std::string group = std::to_string(program_group(spec));
  const char* reach = spec.network == Network::isolated ? "isolated" : "outward";
  const char* words[] = {"meridian-init", "gang-hold", directory.c_str(), reach, user.c_str(),
                         group.c_str(),   nullptr};
  pid_t pid = 0;
  const int rc = posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr,
                             const_cast<char* const*>(words), environ);
  if (rc != 0) throw base::errno_error(rc, "cannot start the gang's holder");
  waitpid(pid, nullptr, 0);
}

// Nothing while there is no holder, or it is just ending.
std::optional<GangMembership> try_join(const fs::path& directory) {
  base::UniqueFd socket = connect_to(directory, "hold.sock", kPatience);
  if (!socket) return std::nullopt;
  auto answer = receive_message(socket.get());
  if (!answer) return std::nullopt;
  const base::Json body(answer->body);
  if (const auto error = base::find_string(body, "error")) {
    throw base::Error(base::Code::unavailable, *error);
  }
  if (answer->fds.size() != 2) return std::nullopt;
  GangMembership membership{
      std::move(socket), std::move(answer->fds[0]), std::move(answer->fds[1]), {}};
  if (const base::Json* notes = base::find(body, "notes"); notes != nullptr && notes->is_array()) {
    for (const auto& note : notes->as_array()) {
      if (note.is_string()) membership.notes.emplace_back(base::view(note.as_string()));
    }
  }
  return membership;
}

}  // namespace

GangMembership join_gang(const InstanceSpec& spec) {
  const base::SystemClock clock;
  const base::Ticks deadline = clock.ticks() + kPatience;
  base::Ticks next_start{};
  while (clock.ticks() < deadline) {
    make_gang_directories(spec.gang_directory);
    if (auto membership = try_join(spec.gang_directory)) return std::move(*membership);
    if (clock.ticks() >= next_start) {
      spawn_holder(spec);
      next_start = clock.ticks() + base::Duration(200);
    }
    std::this_thread::sleep_for(base::Duration(1));
  }
  throw base::Error(base::Code::unavailable,
                    "the gang's network namespace did not come up in 10 s");
}

}  // namespace meridian::run
