// SPDX-License-Identifier: Apache-2.0
#include "run/script/gang_client.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/strings.h"
#include "run/members.h"
#include "run/message.h"
#include "run/script/launcher.h"

namespace meridian::run {
namespace {

constexpr char kGangDirectory[] = "/opt/meridian/gang";
constexpr base::Duration kPoll{50};
constexpr base::Duration kForEver{0};  // of a socket: no limit
constexpr base::Duration kAnswerPatience{5'000};
constexpr base::Duration kRemotePatience{300'000};

base::UniqueFd connect_to_host(const std::string& host, base::Duration patience) {
  return connect_to(kGangDirectory, host + ".sock", patience);
}

// Also once the host has ended: a program that is through was there.
bool is_ready(const std::string& host) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(kGangDirectory) / ready_mark(host), ignored);
}

// In order, that is: a supervisor takes its socket away; one that was killed leaves it.
bool has_ended(const std::string& host) {
  std::error_code ignored;
  return is_ready(host) && !std::filesystem::exists(
                               std::filesystem::path(kGangDirectory) / (host + ".sock"), ignored);
}

[[noreturn]] void too_late(const std::vector<std::string>& missing, base::Duration patience) {
  throw base::Error(base::Code::deadline_exceeded,
                    "host " + base::join(missing, ", ") + " did not come up within " +
                        std::to_string(patience.count() / 1000) + " s");
}

// Runs the command once the host listens; nothing when the conversation broke.
std::optional<int> execute_on(const std::string& host, const std::string& command,
                              base::Duration patience) {
  const base::SystemClock clock;
  const base::Ticks deadline = clock.ticks() + patience;
  base::UniqueFd socket;
  while (!(socket = connect_to_host(host, kForEver))) {
    if (clock.ticks() >= deadline) too_late({host}, patience);
    std::this_thread::sleep_for(kPoll);
  }
  const int fds[] = {0, 1, 2};
  const base::JsonArray argv{"/bin/sh", "-c", command};
  if (!send_message(socket.get(), {{"op", "exec"}, {"argv", argv}}, fds)) return std::nullopt;
  const auto answer = receive_message(socket.get());
  if (!answer || !answer->body.contains("status")) return std::nullopt;
  return static_cast<int>(base::int_or(answer->body, "status", 0));
}

}  // namespace

base::Duration rendezvous_patience(base::Duration fallback) {
  const char* text = getenv(launch_variables::rendezvous);
  const auto seconds = base::to_uint(text != nullptr ? text : "");
  return seconds ? base::Duration(static_cast<std::int64_t>(*seconds) * 1000) : fallback;
}

void announce_ready(const std::string& own_host) {
  const base::UniqueFd socket = connect_to_host(own_host, kAnswerPatience);
  if (!socket || !send_message(socket.get(), {{"op", "ready"}}) || !receive_message(socket.get())) {
    throw base::Error(base::Code::internal, "the supervisor of " + own_host + " does not answer");
  }
}

void wait_for_hosts(const std::vector<std::string>& hosts, base::Duration patience) {
  const base::SystemClock clock;
  const base::Ticks deadline = clock.ticks() + patience;
  std::vector<std::string> missing = hosts;
  while (true) {
    std::erase_if(missing, is_ready);
    if (missing.empty()) return;
    if (clock.ticks() >= deadline) too_late(missing, patience);
    std::this_thread::sleep_for(kPoll);
  }
}

bool wait_for_end_of(const std::string& host) {
  const base::UniqueFd socket = connect_to_host(host, kForEver);
  if (!socket) return has_ended(host);
  return send_message(socket.get(), {{"op", "wait"}}) && receive_message(socket.get()).has_value();
}

int await_end_of(const std::string& host) {
  if (wait_for_end_of(host)) return 0;
  std::fprintf(stderr, "meridian: host %s was lost\n", host.c_str());
  return 1;
}

int run_remote_shell(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) {
    std::fprintf(stderr, "usage: meridian-init rsh HOST COMMAND…\n");
    return 255;
  }
  const std::string command = base::join({arguments.begin() + 1, arguments.end()}, " ");
  const auto status = execute_on(arguments[0], command, rendezvous_patience(kRemotePatience));
  if (!status) {
    std::fprintf(stderr, "meridian: host %s was lost\n", arguments[0].c_str());
    return 255;
  }
  return WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
}

}  // namespace meridian::run
