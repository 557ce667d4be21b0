// The holder's side of run/inside/gang.h.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/strings.h"
#include "run/inside/gang.h"
#include "run/inside/id_map.h"
#include "run/inside/namespaces.h"
#include "run/inside/network_setup.h"
#include "run/message.h"

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

constexpr int kLingerMs = 1000;        // after the last member left
constexpr int kFirstMemberMs = 10000;  // until the first one comes

enum class Reach { outward, isolated };
enum class Owner { user_namespace, real_root };

struct Holder {
  fs::path directory;
  Reach reach = Reach::outward;
  Identity user;
};

void become(Identity who) {
  if (geteuid() != 0 || who.user == 0) return;
  if (setgroups(0, nullptr) != 0 || setresgid(who.group, who.group, who.group) != 0 ||
      setresuid(who.user, who.user, who.user) != 0) {
    throw base::errno_error(errno, "cannot become user " + std::to_string(who.user));
  }
  prctl(PR_SET_DUMPABLE, 1);  // others of this user (pasta) must find our namespaces in /proc
}

// A process that owns the namespaces and does nothing. `answer` gets {"ok", notes} or {"error"}.
[[noreturn]] void own_namespaces(const Holder& holder, Owner owner, int answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<std::string> notes;
  try {
    if (owner == Owner::user_namespace) {
      become(holder.user);
      enter_user_namespace();
    }
    if (unshare(CLONE_NEWNET) != 0) {
      throw base::errno_error(errno, "the kernel refused a network namespace");
    }
    set_up_gang_network(notes);
  } catch (const base::Error& error) {
    send_message(answer, {{"error", error.what()}});
    _exit(1);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // cleared by the change of identity
  send_message(answer, {{"ok", true}, {"notes", base::JsonArray(notes.begin(), notes.end())}});
  while (true) pause();
}

struct Owned {
  pid_t pid = 0;
  std::string error;
  std::vector<std::string> notes;
};

Owned start_owner(const Holder& holder, Owner owner) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw base::errno_error(errno, "cannot make a socket pair");
  }
  base::UniqueFd mine(ends[0]), theirs(ends[1]);
  Owned owned;
  owned.pid = fork();
  if (owned.pid < 0) throw base::errno_error(errno, "cannot fork");
  if (owned.pid == 0) own_namespaces(holder, owner, theirs.get());
  theirs.reset();
  const auto answer = receive_message(mine.get());
  if (!answer) {
    owned.error = "the namespace's owner died";
    return owned;
  }
  owned.error = base::string_or(answer->body, "error");
  if (const auto* notes = base::find(answer->body, "notes"); notes != nullptr) {
    for (const auto& note : notes->as_array()) owned.notes.emplace_back(note.as_string());
  }
  return owned;
}

bool installed(const char* program) {
  for (const char* directory : {"/usr/bin/", "/usr/local/bin/", "/bin/"}) {
    if (access((std::string(directory) + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

struct Outward {
  std::vector<std::string> command;
  bool as_root = false;
  std::string problem;
};

// User-mode networking: no forwarded ports in either direction, the host's own services unseen.
Outward choose_outward(pid_t owner) {
  const std::string pid = std::to_string(owner);
  struct stat tun{};
  const bool have_tun = stat("/dev/net/tun", &tun) == 0;
  const bool open_to_all = have_tun && (tun.st_mode & 0006) == 0006;
  if (open_to_all && installed("pasta")) {
    return {{"pasta", "--foreground", "--quiet", "--config-net", "--no-map-gw", "--ns-ifname",
             "net0", "-t", "none", "-u", "none", "-T", "none", "-U", "none", pid},
            false,
            ""};
  }
  if (have_tun && (open_to_all || geteuid() == 0) && installed("slirp4netns")) {
    // As root only to open the device; it confines itself.
    return {{"slirp4netns", "--configure", "--mtu=65520", "--disable-host-loopback",
             "--enable-sandbox", "--enable-seccomp", pid, "net0"},
            !open_to_all,
            ""};
  }
  if (!have_tun || !open_to_all) {
    return {{}, false, "this user may not open /dev/net/tun (chmod 666 /dev/net/tun)"};
  }
  return {{}, false, "install passt or slirp4netns"};
}

[[noreturn]] void become_outward(const Holder& holder, Outward outward) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // pasta refuses to start with either of these ignored.
  signal(SIGCHLD, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  try {
    if (!outward.as_root) become(holder.user);
  } catch (const base::Error&) {
    _exit(126);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // cleared by the change of identity
  std::vector<char*> argv;
  for (std::string& word : outward.command) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

// Members get the namespace when it has its route, or is known to get none.
void start_outward(const Holder& holder, const Owned& owned, std::vector<std::string>& notes) {
  constexpr int kPatienceMs = 2000;
  const Outward outward = choose_outward(owned.pid);
  if (outward.command.empty()) {
    notes.push_back("no way out of the instance's network: " + outward.problem);
    return;
  }
  const pid_t child = fork();
  if (child == 0) become_outward(holder, outward);
  const std::string routes = "/proc/" + std::to_string(owned.pid) + "/net/route";
  for (int waited = 0; waited < kPatienceMs && kill(child, 0) == 0; waited += 5) {
    if (base::read_file_if_exists(routes).find("net0\t00000000") != std::string::npos) return;
    usleep(5000);
  }
  notes.push_back("no way out of the instance's network: " + outward.command[0] +
                  " did not set it up");
}

base::UniqueFd namespace_of(pid_t pid, const char* kind) {
  return base::open_file("/proc/" + std::to_string(pid) + "/ns/" + kind, O_RDONLY);
}

// Hands the namespaces out until nobody holds on any more.
void serve_members(const Holder& holder, const Owned& owned,
                   const std::vector<std::string>& notes) {
  const base::UniqueFd network = namespace_of(owned.pid, "net");
  const base::UniqueFd user = namespace_of(owned.pid, "user");
  const base::UniqueFd listener = listen_at(holder.directory, "hold.sock", 0600);
  std::vector<base::UniqueFd> members;
  bool had_member = false;
  while (true) {
    std::vector<pollfd> ready{{listener.get(), POLLIN, 0}};
    for (const auto& member : members) ready.push_back({member.get(), POLLIN, 0});
    const int patience = !members.empty() ? -1 : had_member ? kLingerMs : kFirstMemberMs;
    const int count = poll(ready.data(), ready.size(), patience);
    if (count == 0) return;
    for (std::size_t i = ready.size() - 1; i > 0; --i) {
      if (ready[i].revents != 0) members.erase(members.begin() + static_cast<long>(i) - 1);
    }
    if (ready[0].revents == 0) continue;
    base::UniqueFd member = accept_from(listener.get());
    const auto uid = member ? peer_uid(member.get()) : std::nullopt;
    if (!uid || (*uid != 0 && *uid != geteuid())) continue;
    const int fds[] = {network.get(), user.get()};
    if (send_message(member.get(),
                     {{"ok", true}, {"notes", base::JsonArray(notes.begin(), notes.end())}}, fds)) {
      members.push_back(std::move(member));
      had_member = true;
    }
  }
}

// Says to whoever is waiting why there is no namespace.
void serve_refusal(const Holder& holder, const std::string& error) {
  const base::UniqueFd listener = listen_at(holder.directory, "hold.sock", 0600);
  pollfd ready{listener.get(), POLLIN, 0};
  while (poll(&ready, 1, kLingerMs) > 0) {
    if (const base::UniqueFd member = accept_from(listener.get())) {
      send_message(member.get(), {{"error", error}});
    }
  }
}

void hold(const Holder& holder) {
  const base::UniqueFd lock = base::open_file(holder.directory / "lock", O_RDWR | O_CREAT, 0600);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;  // somebody else holds this gang
  signal(SIGCHLD, SIG_IGN);
  Owned owned = start_owner(holder, Owner::user_namespace);
  if (!owned.error.empty() && geteuid() == 0) owned = start_owner(holder, Owner::real_root);
  if (owned.error.empty()) {
    std::vector<std::string> notes = owned.notes;
    if (holder.reach == Reach::outward) start_outward(holder, owned, notes);
    serve_members(holder, owned, notes);
  } else {
    serve_refusal(holder, owned.error);
  }
  base::remove_tree(holder.directory);
}

}  // namespace

int start_gang_holder(const std::vector<std::string>& arguments) {
  if (arguments.size() != 4) return 2;
  const auto user = base::to_uint(arguments[2]), group = base::to_uint(arguments[3]);
  if (!user || !group) return 2;
  const Holder holder{arguments[0],
                      arguments[1] == "isolated" ? Reach::isolated : Reach::outward,
                      {static_cast<std::uint32_t>(*user), static_cast<std::uint32_t>(*group)}};
  const pid_t pid = fork();
  if (pid != 0) return pid > 0 ? 0 : 1;
  setsid();
  try {
    hold(holder);
  } catch (const std::exception& error) {
    fprintf(stderr, "gang-hold: %s\n", error.what());
    _exit(1);
  }
  _exit(0);
}

}  // namespace meridian::run
