// SPDX-License-Identifier: Apache-2.0
#include "run/inside/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "base/error.h"
#include "run/cgroup.h"
#include "run/inside/credential_server.h"
#include "run/inside/file_server.h"
#include "run/inside/forwarder.h"
#include "run/inside/gang.h"
#include "run/inside/namespaces.h"
#include "run/inside/pid1.h"
#include "run/inside/request_server.h"
#include "run/inside/view.h"
#include "run/log_file.h"
#include "run/members.h"
#include "run/message.h"
#include "run/podman.h"
#include "run/process.h"
#include "run/process_usage.h"
#include "run/records.h"

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

constexpr base::Duration kDrainPatience{2000};

std::pair<base::UniqueFd, base::UniqueFd> make_channel() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw base::errno_error(errno, "cannot make a socket pair");
  }
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

// One stream of the program on its way to the log file.
class Stream {
 public:
  Stream(base::UniqueFd fd, const fs::path& log, const base::Clock& clock)
      : fd_(std::move(fd)), writer_(log, clock) {
    fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
    fcntl(fd_.get(), F_SETPIPE_SZ, 1 << 20);
  }

  int fd() const { return fd_.get(); }  // -1 once it ended

  void pump() {
    char buffer[65536];
    const ssize_t n = read(fd_.get(), buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) return write([&] { writer_.append({buffer, static_cast<std::size_t>(n)}); });
    finish();
  }

  void finish() {
    if (!fd_) return;
    write([&] { writer_.finish(); });
    fd_.reset();
  }

 private:
  // A full disk must not stop the program: its output is then lost, and init.log says so once.
  template <class Write>
  void write(Write work) {
    try {
      work();
    } catch (const base::Error& error) {
      if (!told_) std::fprintf(stderr, "output is being lost: %s\n", error.what());
      told_ = true;
    }
  }

  base::UniqueFd fd_;
  LogFileWriter writer_;
  bool told_ = false;
};

class Supervisor final : public RequestServer::Handler {
 public:
  Supervisor(InstanceSpec spec, base::UniqueFd lock)
      : spec_(std::move(spec)),
        lock_(std::move(lock)),
        requests_(std::make_unique<RequestServer>(spec_, *this)) {}

  ExitStatus run() {
    try {
      set_up();
    } catch (const std::exception& error) {
      return not_started(error.what());
    }
    while (pid1_ > 0 || open_streams()) {
      if (drain_deadline_ && clock_.ticks() >= *drain_deadline_) break;
      wait_for_events();
      if (kill_at_ && clock_.ticks() >= *kill_at_) kill_all();
    }
    return conclude();
  }

  // After everything inside is gone, before the end is announced.
  void clean_up() {
    if (cgroup_) cgroup_->remove();
    if (forwarder_ > 0) ::kill(forwarder_, SIGKILL);
    if (credential_server_ > 0) ::kill(credential_server_, SIGKILL);
    for (const pid_t server : file_servers_) ::kill(server, SIGKILL);
    if (!spec_.image.empty()) remove_container(spec_);
    requests_->close_gang_socket();
    const bool alone = !gang_hold_ && spec_.hosts.size() < 2;  // nobody will look for us
    if (alone && !spec_.gang_directory.empty()) forget_member(spec_);
    std::error_code ignored;
    fs::remove_all(spec_.directory / "scratch", ignored);
  }

  void announce(const ExitStatus& status) { requests_->program_ended(status); }

 private:
  void set_up() {
    block_signals();
    base::make_directories(spec_.directory / "scratch", 0700);
    real_root_ = geteuid() == 0;
    cgroup_ = std::make_unique<Cgroup>(spec_.id, spec_.limits, running_.notes);
    running_.cgroups = cgroup_->directories();
    if (!spec_.gang_directory.empty()) make_gang_directories(spec_.gang_directory);
    gang_hold_ = join_network(spec_, running_.notes);
    if (spec_.endpoint_port != 0 && spec_.network != Network::isolated && gang_hold_) {
      forwarder_ = start_forwarder(spec_.endpoint_port, spec_.endpoint_socket);
    }
    if (spec_.credentials) {
      const CredentialServer server = start_credential_server(spec_, bool(gang_hold_));
      credential_server_ = server.pid;
      spec_.environment.emplace(server.variable, server.value);  // the request's own wins
    }
    start_file_servers();
    start_pid1();
    files_.clear();
  }

  // After the network: /dev/fuse has to be opened in the user namespace that mounts.
  void start_file_servers() {
    const Identity owner = spec_.image.empty() ? Identity{program_user(spec_), program_group(spec_)}
                                               : Identity{geteuid(), getegid()};
    for (std::size_t i = 0; i < spec_.mounts.size(); ++i) {
      if (spec_.mounts[i].mode != Mount::Mode::on_demand) continue;
      files_[i] = start_file_server(spec_.mounts[i].host, owner);
      file_servers_.insert(files_[i].process);
    }
  }

  void block_signals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&watched, number);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signals_ = base::UniqueFd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  void start_pid1() {
    auto [out_read, out_write] = make_pipe();
    auto [err_read, err_write] = make_pipe();
    auto [mine, theirs] = make_channel();
    const std::string init_program = fs::read_symlink("/proc/self/exe").string();
    // podman without root makes its own user namespace, from which ours could not be left.
    const bool bare = !spec_.image.empty() && !real_root_;
    const unsigned long flags =
        bare ? SIGCHLD : CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | SIGCHLD;
    const long pid = syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr);
    if (pid < 0) throw base::errno_error(errno, "the kernel refused the instance's namespaces");
    if (pid == 0) {
      run_pid1({.spec = spec_,
                .init_program = init_program,
                .real_root = real_root_,
                .channel = theirs.get(),
                .standard_output = out_write.get(),
                .standard_error = err_write.get(),
                .files = files_});
    }
    pid1_ = static_cast<pid_t>(pid);
    running_.init_pid = pid1_;
    cgroup_->add(pid1_);
    channel_ = std::move(mine);
    const fs::path log = spec_.log_file.empty() ? spec_.directory / "output.log" : spec_.log_file;
    base::make_directories(log.parent_path());
    streams_.push_back(std::make_unique<Stream>(std::move(out_read), log, clock_));
    streams_.push_back(std::make_unique<Stream>(std::move(err_read), log, clock_));
  }

  bool open_streams() const {
    return std::ranges::any_of(streams_, [](const auto& stream) { return stream->fd() >= 0; });
  }

  int poll_timeout() const {
    std::optional<base::Ticks> next = kill_at_;
    if (drain_deadline_ && (!next || *drain_deadline_ < *next)) next = drain_deadline_;
    if (!next) return -1;
    return static_cast<int>(std::max<std::int64_t>(0, (*next - clock_.ticks()).count()));
  }

  void wait_for_events() {
    std::vector<pollfd> ready{{signals_.get(), POLLIN, 0}, {channel_.get(), POLLIN, 0}};
    for (const auto& stream : streams_) ready.push_back({stream->fd(), POLLIN, 0});
    const std::size_t fixed = ready.size();
    requests_->add_descriptors(ready);
    if (poll(ready.data(), ready.size(), poll_timeout()) <= 0) return;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (ready[2 + i].revents != 0) streams_[i]->pump();
    }
    if (ready[1].revents != 0) hear_pid1();
    requests_->serve({ready.begin() + static_cast<long>(fixed), ready.end()});
    if (ready[0].revents != 0) take_signals();
  }

  void take_signals() {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo != SIGCHLD) stop();
    }
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (file_servers_.erase(pid) > 0) file_server_ended(status);
      if (pid != pid1_) continue;
      // What it said last may still be in the channel.
      while (channel_ && hear_pid1()) {
      }
      pid1_ = 0;
      pid1_status_ = status;
      drain_deadline_ = clock_.ticks() + kDrainPatience;
      kill_at_.reset();
    }
  }

  // It ends by itself when the instance's mounts are gone. Before, whoever reads gets an error that
  // is not the program's fault.
  void file_server_ended(int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (pid1_ <= 0 || program_status_) return;
    lost_ = "the process that reads the files of a channel on demand died";
    ::kill(pid1_, SIGKILL);
  }

  bool hear_pid1() {
    const auto message = receive_message(channel_.get());
    if (!message) {
      channel_.reset();
      return false;
    }
    const base::Json body(message->body);
    const std::string event = base::string_or(body, "event");
    if (event == "ready") begin_program(body);
    if (event == "failed") failure_ = base::string_or(body, "message", "unknown");
    if (event == "started") record_start();
    if (event == "ended") program_status_ = static_cast<int>(base::int_or(body, "status", 0));
    if (event == "exec_ended") {
      requests_->command_ended(base::int_or(body, "exec", 0),
                               static_cast<int>(base::int_or(body, "status", 0)));
    }
    return true;
  }

  void begin_program(const base::Json& body) {
    if (const base::Json* notes = base::find(body, "notes"); notes != nullptr) {
      for (const auto& note : notes->as_array()) running_.notes.emplace_back(note.as_string());
    }
    if (stopping_) return kill_all();
    requests_->open_gang_socket();
    send_message(channel_.get(), {{"op", "go"}});
  }

  void record_start() {
    running_.started = clock_.now();
    write_running_record(spec_.directory, running_);
    requests_->program_started();
    if (stopping_) send_message(channel_.get(), {{"op", "signal"}, {"signal", SIGTERM}});
  }

  // RequestServer::Handler
  void stop() override {
    if (!stopping_ && channel_) {
      send_message(channel_.get(), {{"op", "signal"}, {"signal", SIGTERM}});
      kill_at_ = clock_.ticks() + spec_.grace;
    }
    stopping_ = true;
  }

  void kill_all() override {
    stopping_ = true;
    if (pid1_ > 0) ::kill(pid1_, SIGKILL);
    killed_ = true;
    kill_at_.reset();
  }

  bool execute(std::int64_t id, const base::JsonArray& argv, std::span<const int> fds) override {
    return channel_ &&
           send_message(channel_.get(), {{"op", "exec"}, {"exec", id}, {"argv", argv}}, fds);
  }

  ExitStatus not_started(const std::string& message) {
    ExitStatus status;
    status.kind = ExitStatus::Kind::not_started;
    status.stopped = stopping_;
    status.message = message;
    status.at = clock_.now();
    return status;
  }

  ExitStatus conclude() {
    for (const auto& stream : streams_) stream->finish();
    if (!failure_.empty() && !program_status_) return not_started(failure_);
    ExitStatus status;
    status.stopped = stopping_;
    status.out_of_memory = cgroup_->killed_for_memory();
    status.at = clock_.now();
    status.usage = usage_of_all_children();
    const int wait_status = program_status_.value_or(pid1_status_);
    if (!program_status_ && !killed_ && !lost_.empty()) {
      status.kind = ExitStatus::Kind::lost;
      status.message = lost_;
    } else if (program_status_ || killed_) {
      const bool signalled = WIFSIGNALED(wait_status);
      status.kind = signalled ? ExitStatus::Kind::signalled : ExitStatus::Kind::exited;
      status.code = signalled ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
      if (killed_ && stopping_ && !program_status_) status.message = "killed";
    } else {
      status.kind = ExitStatus::Kind::lost;
      status.code = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
      status.message = "the instance's first process died";
    }
    return status;
  }

  InstanceSpec spec_;
  const base::UniqueFd lock_;  // held to the end
  const std::unique_ptr<RequestServer> requests_;
  base::SystemClock clock_;
  bool real_root_ = false, stopping_ = false, killed_ = false;
  RunningRecord running_;
  std::unique_ptr<Cgroup> cgroup_;
  base::UniqueFd gang_hold_, signals_, channel_;
  pid_t pid1_ = 0, forwarder_ = 0, credential_server_ = 0;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::optional<int> program_status_;
  int pid1_status_ = 0;
  std::string failure_, lost_;
  std::map<std::size_t, FileServer> files_;  // until PID 1 has them
  std::set<pid_t> file_servers_;             // that live
  std::optional<base::Ticks> kill_at_, drain_deadline_;
};

// Without it the program's end would be lost: on a full disk it waits for room.
void keep_exit_status(const fs::path& directory, const ExitStatus& status) {
  for (bool told = false;; told = true) {
    try {
      return write_exit_status(directory, status);
    } catch (const base::Error& error) {
      if (!error.retryable()) throw;
      if (!told) std::fprintf(stderr, "meridian-init: waiting for room: %s\n", error.what());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

// The supervisor's whole life; `ready` hears when run.json is on disk.
void supervise(const fs::path& directory, base::UniqueFd ready) {
  base::UniqueFd lock = base::open_file(directory / "lock", O_RDWR | O_CREAT, 0600);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    throw base::Error(base::Code::already_exists, "another supervisor runs " + directory.string());
  }
  if (find_exit_status(directory)) {
    throw base::Error(base::Code::failed_precondition, directory.string() + " has ended already");
  }
  auto spec = parse_instance_spec(base::read_file(directory / "spec.json"));
  if (!spec) {
    throw base::Error(base::Code::invalid_argument,
                      (directory / "spec.json").string() + ": " + spec.error().text());
  }
  spec->directory = directory;
  const std::string id = spec->id;
  // Listens before run.json says that somebody is there to be asked.
  Supervisor supervisor(std::move(*spec), std::move(lock));
  write_supervisor_record(directory, {.id = id,
                                      .pid = getpid(),
                                      .start_time = find_start_time(getpid()).value_or(0),
                                      .boot_id = boot_id(),
                                      .protocol = kProtocol});
  base::write_all(ready.get(), "r");
  ready.reset();
  const ExitStatus status = supervisor.run();
  supervisor.clean_up();
  keep_exit_status(directory, status);
  supervisor.announce(status);
}

}  // namespace

int start_supervisor(const fs::path& directory) {
  auto [heard, ready] = make_pipe();
  const pid_t pid = fork();
  if (pid < 0) throw base::errno_error(errno, "cannot fork");
  if (pid > 0) {
    ready.reset();
    char answer = 0;
    return read(heard.get(), &answer, 1) == 1 ? 0 : 1;
  }
  heard.reset();
  setsid();
  prctl(PR_SET_NAME, "meridian-run");
  try {
    supervise(fs::absolute(directory), std::move(ready));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "meridian-init: %s\n", error.what());
    _exit(1);
  }
  _exit(0);
}

}  // namespace meridian::run
