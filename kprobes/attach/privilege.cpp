// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/privilege.h"

#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "kprobes/attach/probes.h"
#include "kprobes/proc/proc_facts.h"

namespace mlrun::probes {

namespace {

constexpr uint32_t kOwnRingMax = 64 << 20;  // ring memory is charged to no user

bool has_capability(uint32_t capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return false;
  return (sets.at(CAP_TO_INDEX(capability)).effective & CAP_TO_MASK(capability)) != 0;
}

}  // namespace

bool is_root() { return ::getuid() == 0; }

Status check_privilege() {
  if (::getuid() != ::geteuid() || ::getgid() != ::getegid()) {
    return fail("mlrun-probes must not be setuid or setgid; `mlrun doctor --fix` shows what it may have instead");
  }
  if (is_root() || (has_capability(CAP_BPF) && has_capability(CAP_PERFMON))) return {};
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
    return fail("it needs root here: no_new_privs is set, which disables file capabilities");
  return fail("it needs root or file capabilities: `mlrun doctor --fix` shows the command");
}

void drop_capabilities() {
  if (is_root()) return;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  (void)::syscall(SYS_capset, &header, none.data());
}

Status check_scope(const Streams& streams) {
  if (is_root()) return {};
  if (streams.scope != MLRUN_SCOPE_FLAGGED) return fail("only root may observe other users' processes");
  if (streams.ring_bytes > kOwnRingMax) return fail("a ring of more than 64 MiB takes root");
  if (streams.any_library()) return fail("probes in libraries (=cuda, =cufile, =torch) take root");
  return {};
}

// The kernel gives the files in /proc/PID (not that folder) to root where the process has, or had, rights beyond its
// user's.
int may_follow(int pidfd) {
  if (is_root()) return 0;
  const uint32_t pid = pid_of(pidfd);
  if (pid == 0) return ESRCH;
  const auto owner = owner_of(pid);
  pollfd lives{pidfd, POLLIN, 0};  // if it has ended, another process may have the number
  if (!owner || ::poll(&lives, 1, 0) != 0) return ESRCH;
  return *owner == ::getuid() ? 0 : EPERM;
}

}  // namespace mlrun::probes
