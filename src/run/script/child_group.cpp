// SPDX-License-Identifier: Apache-2.0
#include "run/script/child_group.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/error.h"
#include "run/process.h"

namespace meridian::run {
namespace {

constexpr std::size_t kTail = 16384;  // of standard error, for the failure text
constexpr base::Duration kDrainPatience{500};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&set, number);
  return set;
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> environment;
  for (char** pair = environ; *pair != nullptr; ++pair) {
    const std::string_view text(*pair);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      environment[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
  }
  return environment;
}

}  // namespace

// One stream of one child, on its way to ours.
struct ChildGroup::Pipe {
  base::UniqueFd fd;
  int target = 2;
  bool keep_tail = false;
  std::string partial;
};

ChildGroup::ChildGroup() {
  const sigset_t set = watched_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = base::UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

ChildGroup::~ChildGroup() { signal_all(SIGKILL); }

void ChildGroup::start(const std::vector<std::string>& argv,
                       const std::map<std::string, std::string>& extra_environment,
                       const std::string& working_directory) {
  running_.push_back(launch(argv, extra_environment, working_directory));
}

void ChildGroup::start_helper(const std::vector<std::string>& argv,
                              const std::map<std::string, std::string>& extra_environment,
                              const std::string& working_directory) {
  helpers_.push_back(launch(argv, extra_environment, working_directory));
}

pid_t ChildGroup::launch(const std::vector<std::string>& argv,
                         const std::map<std::string, std::string>& extra_environment,
                         const std::string& working_directory) {
  std::map<std::string, std::string> environment = own_environment();
  for (const auto& [name, value] : extra_environment) environment[name] = value;
  base::UniqueFd write_ends[2];
  for (const int stream : {1, 2}) {
    if (stream == 1 && !rewrite_) continue;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw base::errno_error(errno, "cannot make a pipe");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    write_ends[stream - 1].reset(ends[1]);
    pipes_.push_back(
        std::make_unique<Pipe>(Pipe{base::UniqueFd(ends[0]), stream, stream == 2, {}}));
  }
  const pid_t pid = fork();
  if (pid < 0) throw base::errno_error(errno, "cannot fork");
  if (pid == 0) {
    setpgid(0, 0);
    const sigset_t set = watched_signals();
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    if (write_ends[0]) dup2(write_ends[0].get(), 1);
    if (write_ends[1]) dup2(write_ends[1].get(), 2);
    execute(argv, environment, working_directory);
  }
  setpgid(pid, pid);
  return pid;
}

ChildGroup::Outcome ChildGroup::wait() {
  while (!running_.empty() && !decided_) pump(-1);
  decided_ = true;  // the ends that come now are our doing
  signal_all(SIGKILL);
  // What they wrote before they ended; a grandchild that holds a pipe does not hold us.
  const base::SystemClock clock;
  const base::Ticks deadline = clock.ticks() + kDrainPatience;
  while (open_pipes() && clock.ticks() < deadline) {
    pump(static_cast<int>((deadline - clock.ticks()).count()));
  }
  return std::move(outcome_);
}

bool ChildGroup::open_pipes() const {
  return std::ranges::any_of(pipes_, [](const auto& pipe) { return bool(pipe->fd); });
}

void ChildGroup::pump(int timeout_ms) {
  std::vector<pollfd> ready{{signals_.get(), POLLIN, 0}};
  for (const auto& pipe : pipes_) ready.push_back({pipe->fd.get(), POLLIN, 0});
  if (poll(ready.data(), ready.size(), std::max(timeout_ms, -1)) <= 0) return;
  for (std::size_t i = 0; i < pipes_.size(); ++i) {
    if (ready[i + 1].revents != 0) take_output(*pipes_[i]);
  }
  if (ready[0].revents != 0) take_signals();
}

void ChildGroup::take_output(Pipe& pipe) {
  char buffer[65536];
  const ssize_t n = read(pipe.fd.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  std::string text(buffer, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (n <= 0) {
    pipe.fd.reset();
    if (!pipe.partial.empty()) text = "\n";
  }
  if (rewrite_) {
    pipe.partial += text;
    text.clear();
    for (std::size_t end; (end = pipe.partial.find('\n')) != std::string::npos;) {
      text += rewrite_(std::string_view(pipe.partial).substr(0, end)) + "\n";
      pipe.partial.erase(0, end + 1);
    }
  }
  base::write_all(pipe.target, text);
  if (!pipe.keep_tail) return;
  std::string& tail = outcome_.last_errors;
  tail += text;
  if (tail.size() > kTail) tail.erase(0, tail.size() - kTail);
}

void ChildGroup::take_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo != SIGCHLD) signal_all(static_cast<int>(info.ssi_signo));
  }
  reap();
}

void ChildGroup::reap() {
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (std::erase(running_, pid) + std::erase(helpers_, pid) == 0) continue;
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code != 0 && !decided_) {
      outcome_.code = code;
      decided_ = true;
    }
  }
}

void ChildGroup::signal_all(int number) const {
  for (const pid_t pid : running_) kill(-pid, number);
  for (const pid_t pid : helpers_) kill(-pid, number);
}

}  // namespace meridian::run
