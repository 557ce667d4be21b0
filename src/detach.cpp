// SPDX-License-Identifier: Apache-2.0
#include "detach.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"

extern char** environ;

namespace meridian {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> foreground_command(const cli::UpOptions& options) {
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(),
                                 "--data",
                                 fs::absolute(options.data).string(),
                                 "up",
                                 "--port",
                                 std::to_string(options.port),
                                 "--listen",
                                 options.listen};
  if (!options.regions.empty()) {
    words.insert(words.end(), {"--regions", base::join(options.regions, ",")});
  }
  if (options.strict) words.emplace_back("--strict");
  if (!options.certificate.empty()) {
    words.insert(words.end(), {"--certificate", options.certificate, "--key", options.key});
  }
  return words;
}

pid_t spawn_in_own_session(const std::vector<std::string>& words, const fs::path& log) {
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  // Opened here, so that a directory that cannot be written is named.
  const base::UniqueFd output = base::open_file(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output.get(), 1);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw base::errno_error(error, "cannot start " + words.front());
  return pid;
}

// The port once run.json is that process's; 0 while it is not.
std::int64_t serving_port(const fs::path& run_file, pid_t pid) {
  const auto run = base::parse_json(base::read_file_if_exists(run_file));
  if (!run || base::int_or(*run, "pid", 0) != pid) return 0;
  return base::int_or(*run, "port", 0);
}

}  // namespace

int start_detached(const cli::UpOptions& options) {
  base::make_directories(options.data, 0700);
  const fs::path log = options.data / "daemon.log";
  const pid_t pid = spawn_in_own_session(foreground_command(options), log);
  for (int tries = 0; tries < 3000; ++tries) {
    if (const std::int64_t port = serving_port(options.data / "run.json", pid); port != 0) {
      std::fputs(base::read_file_if_exists(log).c_str(), stdout);
      fmt::print("running in the background (pid {}); stop it with: meridian down\n", pid);
      return 0;
    }
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) {
      std::fputs(base::read_file_if_exists(log).c_str(), stderr);
      return 1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  fmt::print(stderr, "meridian: the daemon (pid {}) does not serve after 30 s; see {}\n", pid,
             log.string());
  return 1;
}

}  // namespace meridian
