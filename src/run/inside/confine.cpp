// SPDX-License-Identifier: Apache-2.0
#include "run/inside/confine.h"

#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/error.h"

namespace meridian::run {
namespace {

constexpr int kDenied[] = {
    // mounts and namespaces
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(move_mount),
    SCMP_SYS(open_tree), SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr), SCMP_SYS(setns), SCMP_SYS(open_by_handle_at),
    // keys, tracing of the kernel
    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd),
    // the machine
    SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(init_module), SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(acct),
    SCMP_SYS(quotactl)};

// Several processes of one user share a kernel, so what is refused is refused by EPERM, as it is
// to any user without capabilities.
int add_rules(scmp_filter_ctx filter) {
  for (const int call : kDenied) {
    if (const int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0)) return rc;
  }
  const scmp_arg_cmp new_user = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER);
  for (const int call : {SCMP_SYS(unshare), SCMP_SYS(clone)}) {
    if (const int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1, new_user)) {
      return rc;
    }
  }
  // clone3's flags lie in memory, out of the filter's sight; C libraries fall back to clone.
  return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

void drop_capabilities() {
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct nothing[2] = {};
  if (syscall(SYS_capset, &header, nothing) != 0) {
    throw base::errno_error(errno, "cannot drop capabilities");
  }
}

}  // namespace

void drop_privileges(Identity who) {
  // The bounding set first: that needs the capabilities that go next.
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  if (who.user != geteuid() || who.group != getegid()) {
    if (setgroups(0, nullptr) != 0 || setresgid(who.group, who.group, who.group) != 0 ||
        setresuid(who.user, who.user, who.user) != 0) {
      throw base::errno_error(errno, "cannot become user " + std::to_string(who.user));
    }
  }
  drop_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    throw base::errno_error(errno, "cannot set no_new_privs");
  }
}

void deny_system_calls() {
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter(seccomp_init(SCMP_ACT_ALLOW),
                                                                seccomp_release);
  int rc = filter ? add_rules(filter.get()) : -ENOMEM;
  if (rc == 0) rc = seccomp_load(filter.get());
  if (rc != 0) throw base::errno_error(-rc, "cannot install the system call filter");
}

}  // namespace meridian::run
