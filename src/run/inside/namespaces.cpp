// SPDX-License-Identifier: Apache-2.0
#include "run/inside/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/strings.h"
#include "run/inside/gang.h"
#include "run/message.h"

namespace meridian::run {
namespace {

void put(const char* file, const std::string& text) {
  const base::UniqueFd fd = base::open_file(file, O_WRONLY);
  base::write_all(fd.get(), text);
}

std::string setting(const char* name) {
  return std::string(base::trim(
      base::read_file_if_exists(std::string("/proc/sys/") + base::replace_all(name, ".", "/"))));
}

// Which of the machine's settings forbids user namespaces, and what mends it.
std::string why_refused(int reason) {
  std::string text = "the kernel refused a user namespace (" +
                     std::string(base::errno_error(reason, "unshare").what()) + ")";
  for (const auto& [name, bad, good] :
       {std::tuple{"kernel.unprivileged_userns_clone", "0", "1"},
        std::tuple{"user.max_user_namespaces", "0", "15000"},
        std::tuple{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"}}) {
    if (setting(name) == bad) {
      return text + ": run `sysctl -w " + name + "=" + good + "`, or start Meridian as root";
    }
  }
  return text + ": allow user namespaces (sysctl user.max_user_namespaces, or the container's " +
         "security profile), or start Meridian as root";
}

}  // namespace

void enter_user_namespace() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER) != 0) {
    throw base::Error(base::Code::failed_precondition, why_refused(errno));
  }
  put("/proc/self/setgroups", "deny");
  put("/proc/self/uid_map", std::to_string(user) + " " + std::to_string(user) + " 1");
  put("/proc/self/gid_map", std::to_string(group) + " " + std::to_string(group) + " 1");
}

base::UniqueFd join_network(const InstanceSpec& spec, std::vector<std::string>& notes) {
  if (!spec.image.empty() && geteuid() != 0) {
    notes.push_back("the host's network is used: podman without root cannot join the gang's");
    return {};
  }
  if (spec.network == Network::host) {
    if (geteuid() != 0) enter_user_namespace();
    return {};
  }
  const bool root = geteuid() == 0;
  GangMembership gang;
  try {
    gang = join_gang(spec);
  } catch (const base::Error& error) {
    notes.push_back(std::string("the host's network is used: ") + error.what());
    if (!root) enter_user_namespace();
    return {};
  }
  notes.insert(notes.end(), gang.notes.begin(), gang.notes.end());
  if (!root && setns(gang.user_namespace.get(), CLONE_NEWUSER) != 0) {
    throw base::errno_error(errno, "cannot join the gang's user namespace");
  }
  if (setns(gang.network_namespace.get(), CLONE_NEWNET) != 0) {
    throw base::errno_error(errno, "cannot join the gang's network namespace");
  }
  return std::move(gang.hold);
}

}  // namespace meridian::run
