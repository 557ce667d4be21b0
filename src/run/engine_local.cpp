// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <thread>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/sync.h"
#include "run/capture.h"
#include "run/cgroup.h"
#include "run/engine.h"
#include "run/gpu.h"
#include "run/members.h"
#include "run/message.h"
#include "run/process_usage.h"
#include "run/records.h"

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

constexpr base::Duration kPatience{2000};  // for answers of a supervisor, which never blocks

// One instance under watch. A supervisor is known by a handle that cannot come to mean another
// process, and by a conversation in which it said which instance it is.
struct Watched {
  fs::path directory;
  std::shared_ptr<base::UniqueFd> process;  // pidfd; readable when it ends
  std::shared_ptr<base::UniqueFd> events;   // "watch" conversation
  bool ended = false;
};

using Instances = std::map<std::string, Watched>;

bool ask(const fs::path& directory, const char* op) {
  const base::UniqueFd socket = connect_to(directory, "init.sock", kPatience);
  return socket && send_message(socket.get(), {{"op", op}}) && receive_message(socket.get());
}

// Whether some supervisor holds this directory.
bool is_locked(const fs::path& directory) {
  const base::UniqueFd lock(open((directory / "lock").c_str(), O_RDWR | O_CLOEXEC));
  return lock && flock(lock.get(), LOCK_SH | LOCK_NB) != 0;
}

// The process that `record` means, when it still lives.
base::UniqueFd open_supervisor(const SupervisorRecord& record) {
  if (record.boot_id != boot_id()) return {};
  base::UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, record.pid, 0)));
  // The handle first, then the check: the number cannot change its meaning in between.
  if (!process || find_start_time(record.pid) != record.start_time) return {};
  fcntl(process.get(), F_SETFD, FD_CLOEXEC);
  return process;
}

// A conversation that tells when the program starts; invalid when it is not our instance's.
base::UniqueFd greet(const fs::path& directory, const SupervisorRecord& record) {
  base::UniqueFd socket = connect_to(directory, "init.sock", kPatience);
  if (!socket || !send_message(socket.get(), {{"op", "hello"}})) return {};
  const auto answer = receive_message(socket.get());
  if (!answer) return {};
  const base::Json body(answer->body);
  if (base::string_or(body, "id") != record.id || base::int_or(body, "pid", 0) != record.pid) {
    return {};
  }
  if (base::int_or(body, "protocol", 0) > kProtocol) {
    throw base::Error(base::Code::failed_precondition,
                      "instance " + record.id + " was started by a newer Meridian");
  }
  if (!send_message(socket.get(), {{"op", "watch"}}) || !receive_message(socket.get())) return {};
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  return socket;
}

std::string gang_directory_name(const InstanceSpec& spec) {
  const std::string& gang = spec.gang.empty() ? spec.id : spec.gang;
  return base::sha256_hex(gang).substr(0, 16);
}

class LocalEngine final : public Engine {
 public:
  LocalEngine(const base::Clock& clock, LocalEngineSettings settings)
      : clock_(clock),
        settings_(std::move(settings)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        poller_([this](std::stop_token stop) { watch(stop); }) {}

  ~LocalEngine() override {
    poller_.request_stop();
    wake();
  }

  void start(const InstanceSpec& spec) override {
    base::while_doing("starting instance " + spec.id, [&] {
      if (!find_supervisor_record(spec.directory)) {
        write_spec(spec);
        spawn_supervisor(spec.directory);
      }
      adopt(spec.directory);
    });
  }

  InstanceStatus adopt(const fs::path& directory) override {
    const auto record = find_supervisor_record(directory);
    if (!record) return ended_as_lost("no supervisor was ever started", std::nullopt);
    Watched watched;
    watched.directory = directory;
    watched.process = std::make_shared<base::UniqueFd>(open_supervisor(*record));
    if (*watched.process) {
      watched.events = std::make_shared<base::UniqueFd>(greet(directory, *record));
    } else {
      watched.ended = true;
    }
    (*instances_.lock())[record->id] = watched;
    wake();
    return status_of(watched);
  }

  InstanceStatus observe(const std::string& id) override {
    const auto watched = find(id);
    return watched ? status_of(*watched) : InstanceStatus{};
  }

  void stop(const std::string& id) override {
    const auto watched = find(id);
    if (!watched || watched->ended) return;
    // Without waiting for the answer: a supervisor that is still setting up reads it later.
    const base::UniqueFd socket = connect_to(watched->directory, "init.sock", kPatience);
    if (socket) send_message(socket.get(), {{"op", "stop"}});
  }

  void kill(const std::string& id) override {
    const auto watched = find(id);
    if (!watched || watched->ended || ask(watched->directory, "kill")) return;
    // It does not answer: its death is the instance's.
    syscall(SYS_pidfd_send_signal, watched->process->get(), SIGKILL, nullptr, 0);
  }

  Usage usage(const std::string& id) override {
    const auto watched = find(id);
    if (!watched) return {};
    if (const auto exit = find_exit_status(watched->directory)) return exit->usage;
    const auto running = find_running_record(watched->directory);
    return running ? read_usage(*running) : Usage{};
  }

  void forget(const std::string& id) override {
    if (const auto watched = find(id)) clean_up_after(watched->directory);
    instances_.lock()->erase(id);
    wake();
  }

  std::optional<std::string> find_obstacle_to_files(Runtime runtime) override {
    if (runtime == Runtime::image && geteuid() != 0) {
      return "podman without root makes its mounts in a namespace of its own";
    }
    // Somebody may change /dev/fuse while we run: asked each time, by doing it.
    base::make_directories(settings_.state_directory, 0700);
    const Captured probe = capture(
        {settings_.init_program.string(), "files-probe", settings_.state_directory.string()});
    if (probe.exit_code == 0) return std::nullopt;
    const std::string said(base::trim(probe.output));
    return said.empty() ? "meridian-init cannot try it out" : said;
  }

  std::vector<GpuSample> sample_gpus() override { return run::sample_gpus(); }

  void on_change(OnChange callback) override { *callback_.lock() = std::move(callback); }

 private:
  void write_spec(const InstanceSpec& spec) const {
    InstanceSpec whole = spec;
    for (const auto& [name, value] : gpu_environment(spec.gpus)) {
      whole.environment.emplace(name, value);  // the request's own word wins
    }
    whole.user_id = settings_.user_id;
    whole.group_id = settings_.group_id;
    whole.gang_directory = settings_.state_directory / "gangs" / gang_directory_name(spec);
    base::make_directories(spec.directory, 0700);
    base::make_directories(settings_.state_directory / "gangs", 0700);
    base::write_file(spec.directory / "spec.json", base::to_text(to_json(whole)) + "\n",
                     base::Durability::synced, 0600);
  }

  // Returns when the supervisor has written run.json and stands on its own.
  void spawn_supervisor(const fs::path& directory) const {
    const std::string log = (directory / "init.log").string();
    const std::string program = settings_.init_program.string();
    const std::string where = directory.string();
    const char* words[] = {program.c_str(), "run", where.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t pid = 0;
    const int rc = posix_spawn(&pid, program.c_str(), &actions, &attributes,
                               const_cast<char* const*>(words), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (rc != 0) throw base::errno_error(rc, "cannot start " + program);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0 && !find_supervisor_record(directory)) {
      throw base::Error(base::Code::unavailable,
                        "meridian-init did not start: " + base::read_file_if_exists(log, 4096));
    }
  }

  // What a supervisor that was killed could not take away itself.
  void clean_up_after(const fs::path& directory) const {
    if (is_locked(directory)) return;
    if (const auto running = find_running_record(directory)) remove_cgroups(running->cgroups);
    const auto spec = parse_instance_spec(base::read_file_if_exists(directory / "spec.json"));
    if (!spec || spec->gang_directory.empty()) return;
    forget_member(*spec);
  }

  std::optional<Watched> find(const std::string& id) const {
    auto instances = instances_.lock();
    const auto it = instances->find(id);
    return it == instances->end() ? std::nullopt : std::optional(it->second);
  }

  InstanceStatus ended_as_lost(std::string message, std::optional<RunningRecord> running) const {
    InstanceStatus status;
    status.phase = InstanceStatus::Phase::ended;
    status.exit = ExitStatus{
        .kind = ExitStatus::Kind::lost, .message = std::move(message), .at = clock_.now()};
    if (running) status.started = running->started;
    return status;
  }

  InstanceStatus status_of(const Watched& watched) const {
    const auto running = find_running_record(watched.directory);
    InstanceStatus status;
    if (running) {
      status.started = running->started;
      status.notes = running->notes;
    }
    status.exit = find_exit_status(watched.directory);
    if (status.exit) {
      status.phase = InstanceStatus::Phase::ended;
    } else if (watched.ended && !is_locked(watched.directory)) {
      return ended_as_lost("the supervisor died without a word", running);
    } else {
      status.phase = running ? InstanceStatus::Phase::running : InstanceStatus::Phase::starting;
    }
    return status;
  }

  void wake() const {
    const std::uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof one);
  }

  std::vector<std::pair<std::string, Watched>> living() const {
    std::vector<std::pair<std::string, Watched>> out;
    auto instances =
        instances_.lock();  // named: a loop over a temporary guard would not be guarded
    for (const auto& [id, instance] : *instances) {
      if (!instance.ended) out.emplace_back(id, instance);
    }
    return out;
  }

  // The one poller: an instance's process handle or conversation becomes readable.
  void watch(std::stop_token stop) {
    while (!stop.stop_requested()) {
      const std::vector<std::pair<std::string, Watched>> watched = living();
      std::vector<pollfd> ready{{wake_.get(), POLLIN, 0}};
      for (const auto& [id, instance] : watched) {
        ready.push_back({instance.process->get(), POLLIN, 0});
        ready.push_back({instance.events ? instance.events->get() : -1, POLLIN, 0});
      }
      if (poll(ready.data(), ready.size(), -1) <= 0) continue;
      std::uint64_t count = 0;
      if (ready[0].revents != 0) (void)!read(wake_.get(), &count, sizeof count);
      for (std::size_t i = 0; i < watched.size(); ++i) {
        const bool ended = ready[1 + 2 * i].revents != 0;
        const bool event = ready[2 + 2 * i].revents != 0;
        if (ended) mark_ended(watched[i].first, watched[i].second);
        if (event && !ended) hear(watched[i].first, watched[i].second);
      }
    }
  }

  void mark_ended(const std::string& id, const Watched& watched) {
    {
      auto instances = instances_.lock();
      const auto it = instances->find(id);
      if (it == instances->end() || it->second.process != watched.process) return;
      it->second.ended = true;
    }
    tell(id);
  }

  void hear(const std::string& id, const Watched& watched) {
    if (receive_message(watched.events->get())) return tell(id);
    // It closed the conversation and is about to end: the process handle will say so.
    auto instances = instances_.lock();
    const auto it = instances->find(id);
    if (it != instances->end() && it->second.events == watched.events) it->second.events = nullptr;
  }

  void tell(const std::string& id) {
    const OnChange callback = *callback_.lock();
    if (callback) callback(id);
  }

  const base::Clock& clock_;
  const LocalEngineSettings settings_;
  base::Sync<Instances> instances_;
  base::Sync<OnChange> callback_;
  base::UniqueFd wake_;
  std::jthread poller_;
};

}  // namespace

std::unique_ptr<Engine> make_local_engine(const base::Clock& clock, LocalEngineSettings settings) {
  return std::make_unique<LocalEngine>(clock, std::move(settings));
}

}  // namespace meridian::run
