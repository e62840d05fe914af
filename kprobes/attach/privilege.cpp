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

constexpr uint32_t kOwnRingMax = 64 << 20;  // the kernel charges ring memory to no user's limit

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
    return fail(
        "mlrun-probes must not be setuid or setgid; remove the bit: `mlrun doctor --fix` shows the capabilities to set "
        "instead");
  }
  if (is_root() || (has_capability(CAP_BPF) && has_capability(CAP_PERFMON))) return {};
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
    return fail("mlrun-probes needs root here: no_new_privs is set, which disables file capabilities");
  return fail("mlrun-probes needs root or file capabilities: `mlrun doctor --fix` shows the command");
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
  if (streams.ring_bytes > kOwnRingMax) return fail("only root may have kernel rings of more than 64 MiB");
  if (streams.any_library())
    return fail("only root may probe libraries (=cuda, =cufile, =torch); run mlrun as root or leave them out");
  return {};
}

// Checks the owner of the files in /proc/PID (not of the folder): it is root if the process has, or had, rights beyond
// those of its user.
int may_follow(int pidfd) {
  if (is_root()) return 0;
  const uint32_t pid = pid_of(pidfd);
  if (pid == 0) return ESRCH;
  const auto owner = owner_of(pid);
  pollfd lives{pidfd, POLLIN, 0};  // if it has ended, its pid may be another process's
  if (!owner || ::poll(&lives, 1, 0) != 0) return ESRCH;
  return *owner == ::getuid() ? 0 : EPERM;
}

}  // namespace mlrun::probes
