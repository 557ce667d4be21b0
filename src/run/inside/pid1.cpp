// SPDX-License-Identifier: Apache-2.0
#include "run/inside/pid1.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "run/inside/confine.h"
#include "run/inside/view.h"
#include "run/message.h"
#include "run/podman.h"
#include "run/process.h"

namespace meridian::run {
namespace {

void reset_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
}

class Init {
 public:
  explicit Init(const Pid1& settings) : settings_(settings), spec_(settings.spec) {}

  [[noreturn]] void run() {
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    const int children = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    while (true) {
      pollfd ready[2] = {{settings_.channel, POLLIN, 0}, {children, POLLIN, 0}};
      if (poll(ready, 2, -1) < 0 && errno != EINTR) _exit(1);
      if (ready[0].revents != 0) serve();
      if (ready[1].revents != 0) {
        signalfd_siginfo ignored;
        while (read(children, &ignored, sizeof ignored) > 0) {
        }
        reap();
      }
    }
  }

 private:
  void serve() {
    auto message = receive_message(settings_.channel);
    if (!message) _exit(1);  // the supervisor is gone
    const std::string op = base::string_or(message->body, "op");
    if (op == "go") start_program();
    if (op == "signal") signal_program(static_cast<int>(base::int_or(message->body, "signal", 15)));
    if (op == "exec") start_command(*message);
  }

  void start_program() {
    program_ = fork();
    if (program_ < 0) fail("cannot fork: " + std::string(strerror(errno)));
    if (program_ == 0) {
      become_child(-1, settings_.standard_output, settings_.standard_error);
      if (!spec_.image.empty()) execute_podman(podman_command(spec_, settings_.init_program));
      execute(spec_.argv, spec_.environment, spec_.working_directory);
    }
    close(settings_.standard_output);
    close(settings_.standard_error);
    send_message(settings_.channel, {{"event", "started"}});
  }

  // podman runs with the daemon's environment; the container gets the spec's.
  [[noreturn]] static void execute_podman(const std::vector<std::string>& words) {
    std::map<std::string, std::string> environment;
    for (char** pair = environ; *pair != nullptr; ++pair) {
      const std::string text(*pair);
      const std::size_t equals = text.find('=');
      if (equals != std::string::npos)
        environment[text.substr(0, equals)] = text.substr(equals + 1);
    }
    execute(words, environment, "/");
  }

  void signal_program(int number) {
    if (program_ <= 0) return;
    // The group, so that a shell's child hears it too; the process alone before it has a group.
    if (kill(-program_, number) != 0) kill(program_, number);
  }

  void start_command(const Message& message) {
    const std::int64_t id = base::int_or(message.body, "exec", 0);
    const auto argv = base::find(message.body, "argv");
    std::vector<std::string> words;
    if (argv != nullptr && argv->is_array()) {
      for (const auto& word : argv->as_array()) {
        if (word.is_string()) words.emplace_back(base::view(word.as_string()));
      }
    }
    pid_t pid = -1;
    if (!words.empty() && message.fds.size() == 3) pid = fork();
    if (pid == 0) {
      become_child(message.fds[0].get(), message.fds[1].get(), message.fds[2].get());
      if (!spec_.image.empty()) execute_in_container(words);
      execute(words, spec_.environment, spec_.working_directory);
    }
    if (pid < 0) {
      send_message(settings_.channel,
                   {{"event", "exec_ended"}, {"exec", id}, {"status", 126 << 8}});
    } else {
      commands_[pid] = id;
    }
  }

  // Its program was told to start before anybody could ask, but podman takes its time.
  [[noreturn]] void execute_in_container(const std::vector<std::string>& words) {
    if (!wait_for_container(spec_)) {
      std::fprintf(stderr, "meridian: the container of %s does not run\n", spec_.hostname.c_str());
      _exit(126);
    }
    execute_podman(podman_exec_command(spec_, words));
  }

  void become_child(int input, int output, int error) {
    setsid();
    reset_signals();
    const base::UniqueFd null(input < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1);
    dup2(input < 0 ? null.get() : input, 0);
    dup2(output, 1);
    dup2(error, 2);
    close_range(3, ~0U, 0);
    if (!spec_.image.empty()) return;  // podman confines what it runs
    prctl(PR_SET_DUMPABLE, 1);
    try {
      deny_system_calls();
    } catch (const base::Error& problem) {
      std::fprintf(stderr, "meridian: %s\n", problem.what());
      _exit(126);
    }
  }

  void reap() {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == program_) {
        send_message(settings_.channel, {{"event", "ended"}, {"status", status}});
        _exit(0);  // the kernel kills whatever is left in here
      }
      if (const auto it = commands_.find(pid); it != commands_.end()) {
        send_message(settings_.channel,
                     {{"event", "exec_ended"}, {"exec", it->second}, {"status", status}});
        commands_.erase(it);
      }
    }
  }

  [[noreturn]] void fail(const std::string& message) {
    send_message(settings_.channel, {{"event", "failed"}, {"message", message}});
    _exit(1);
  }

  const Pid1& settings_;
  const InstanceSpec& spec_;
  pid_t program_ = 0;
  std::map<pid_t, std::int64_t> commands_;
};

// podman makes the container's view and takes its privileges; it needs the host's files, and a
// /proc of this PID namespace.
void set_up_for_podman(const Pid1& settings) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (!settings.real_root) return;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    throw base::errno_error(errno, "cannot mount /proc for podman");
  }
  for (auto& [mount, server] : settings.files) {
    const auto directory = files_directory(settings.spec, mount);
    base::make_directories(directory);
    mount_files(server, directory, {geteuid(), getegid()});
  }
}

// Everything that needs privileges; afterwards there are none.
void set_up(const Pid1& settings, std::vector<std::string>& notes) {
  const InstanceSpec& spec = settings.spec;
  const Identity who{program_user(spec), program_group(spec)};
  const bool own_name = spec.image.empty() && !spec.hostname.empty();
  if (own_name && sethostname(spec.hostname.c_str(), spec.hostname.size()) != 0) {
    throw base::errno_error(errno, "cannot set the host name");
  }
  if (!spec.image.empty()) return set_up_for_podman(settings);
  enter_view({spec, settings.real_root, settings.init_program, settings.files}, notes);
  const rlimit no_cores{0, 0};
  setrlimit(RLIMIT_CORE, &no_cores);
  drop_privileges(who);
  // The program has the same user: it must not look into or steer this process.
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of identity cleared it
}

}  // namespace

void run_pid1(const Pid1& settings) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "meridian-pid1");
  umask(022);
  // Descriptors of the supervisor (its lock above all) must not live on in here.
  std::vector<int> keep{settings.channel, settings.standard_output, settings.standard_error};
  for (const auto& [mount, server] : settings.files) {
    keep.insert(keep.end(), {server.device.get(), server.mounted.get()});
  }
  close_others(std::move(keep));
  std::vector<std::string> notes;
  try {
    set_up(settings, notes);
  } catch (const std::exception& error) {
    send_message(settings.channel, {{"event", "failed"}, {"message", error.what()}});
    _exit(1);
  }
  base::JsonArray list(notes.begin(), notes.end());
  send_message(settings.channel, {{"event", "ready"}, {"notes", std::move(list)}});
  Init(settings).run();
}

}  // namespace meridian::run
