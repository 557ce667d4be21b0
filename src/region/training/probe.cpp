// Asks podman and interpreters; answers are kept, because a training asks the same each time.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "base/file.h"
#include "base/strings.h"
#include "base/sync.h"
#include "region/training/image.h"

extern char** environ;

namespace meridian::region::training {
namespace {

struct Ended {
  int code = 127;
  std::string output;  // both streams, the last 64 KiB
};

constexpr int kPatienceMs = 60'000;

std::string read_until_closed(int fd, pid_t child) {
  std::string output;
  char buffer[4096];
  for (;;) {
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, kPatienceMs) <= 0) {
      kill(child, SIGKILL);
      return output + "\nno answer within a minute";
    }
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got <= 0) return output;
    output.append(buffer, static_cast<std::size_t>(got));
    if (output.size() > 65536) output.erase(0, output.size() - 65536);
  }
}

// A short command without input. posix_spawn: no code of ours runs between fork and exec.
Ended run_command(const std::vector<std::string>& words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw base::errno_error(errno, "pipe");
  base::UniqueFd reader(ends[0]), writer(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, writer.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, writer.get(), 2);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  writer.reset();
  if (error != 0) return {127, words[0] + ": " + base::errno_error(error, words[0]).message()};
  Ended ended;
  ended.output = read_until_closed(reader.get(), child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

std::string last_line(const std::string& output) {
  auto lines = base::split(base::trim(output), '\n');
  return lines.empty() ? "" : std::string(base::trim(lines.back()));
}

std::optional<std::string> find_oci_image(const std::string& image) {
  if (image.empty() || image.starts_with('-')) return std::nullopt;
  if (run_command({"podman", "image", "exists", image}).code != 0) return std::nullopt;
  return image;
}

std::optional<std::string> import_error(const std::string& python, const std::string& module) {
  static base::Sync<std::map<std::pair<std::string, std::string>, bool>> importable;
  if (importable.lock()->contains({python, module})) return std::nullopt;
  Ended ended = run_command({python, "-c", "import " + module});
  if (ended.code != 0) return last_line(ended.output);
  importable.lock()->insert({{python, module}, true});
  return std::nullopt;
}

std::vector<std::string> search_path(const std::string& python) {
  static base::Sync<std::map<std::string, std::vector<std::string>>> known;
  if (auto guard = known.lock(); guard->contains(python)) return guard->at(python);
  Ended ended = run_command({python, "-c",
                             "import sys, platform; print(platform.python_version(), "
                             "*filter(None, sys.path), sep='\\n')"});
  if (ended.code != 0) return {};
  auto lines = base::split(base::trim(ended.output), '\n');
  known.lock()->insert({python, lines});
  return lines;
}

// A link may lead anywhere once the image has its root: it counts as code, and is not followed.
constexpr char kLookForCode[] = R"(exec 2>/dev/null
m=$(podman image mount "$0") || exit 1
for d in opt opt/ml opt/ml/code; do [ -L "$m/$d" ] && echo link; done
[ -L "$m/opt" ] || [ -L "$m/opt/ml" ] || ls -A "$m/opt/ml/code" | head -n 1
podman image unmount "$0" >/dev/null)";

bool has_code(const std::string& image) {
  std::vector<std::string> words{"/bin/sh", "-c", kLookForCode, image};
  if (geteuid() != 0) words.insert(words.begin(), {"podman", "unshare"});
  const Ended ended = run_command(words);
  return ended.code == 0 && !base::trim(ended.output).empty();
}

}  // namespace

HostProbe machine_probe() { return {find_oci_image, import_error, search_path, has_code}; }

}  // namespace meridian::region::training
