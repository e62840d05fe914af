// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/doctor_fix.h"

#include <linux/capability.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/launch/file_rights.h"
#include "runner/session/installation.h"
#include "runner/util/text.h"

namespace mlrun::commands {

namespace {

constexpr const char* kSetcap = "/usr/sbin/setcap";
constexpr const char* kRights = "cap_bpf,cap_perfmon,cap_sys_admin=ep";

constexpr const char* kWhat =
    "--kprobes for users other than root: mlrun-probes gets the right to load BPF programs, which read kernel memory.\n"
    "Every user of this machine who may execute it can then use --kprobes. A user other than root records only "
    "processes\n"
    "of that user; see kprobes/privileges.md in PREFIX/share/doc/mlrun. Without cap_sys_admin it works too, but not\n"
    "for what is in modules of the kernel: file operations of ext4, xfs and others on most machines, and requests to\n"
    "file servers.\n";

bool has_rights(const std::string& program) {
  vfs_ns_cap_data data{};
  if (::getxattr(program.c_str(), "security.capability", &data, sizeof data) < static_cast<ssize_t>(XATTR_CAPS_SZ_2))
    return false;
  const auto permits = [&](uint32_t capability) {
    return (data.data[CAP_TO_INDEX(capability)].permitted & CAP_TO_MASK(capability)) != 0;
  };
  return (data.magic_etc & VFS_CAP_FLAGS_EFFECTIVE) != 0 && permits(CAP_BPF) && permits(CAP_PERFMON) &&
         permits(CAP_SYS_ADMIN);
}

// File capabilities have no effect on a nosuid file system.
bool lies_on_nosuid(const std::string& program) {
  struct statvfs status {};
  return ::statvfs(program.c_str(), &status) == 0 && (status.f_flag & ST_NOSUID) != 0;
}

Status run(const std::string& command) {
  fmt::print("+ {}\n", command);
  std::fflush(stdout);
  const int status = std::system(command.c_str());
  if (status == 0) return {};
  return fail(fmt::format("`{}` failed; earlier commands were not undone", command));
}

}  // namespace

Result<int> fix(bool runs) {
  const std::string program = session::find_installation().probes_program;
  if (::access(program.c_str(), X_OK) != 0) return fail(program + " is missing; install or build mlrun again");
  if (lies_on_nosuid(program)) {
    return fail(program +
                " is on a file system that is mounted nosuid, where files give no rights; install mlrun elsewhere");
  }
  if (const std::string reason = launch::rights_beyond_bounds(program); !reason.empty()) return fail(reason);
  if (has_rights(program)) {
    fmt::print("Nothing to do: {} has its rights. `mlrun doctor` lists what else is missing.\n", program);
    return 0;
  }
  const std::string as_root = ::geteuid() == 0 ? "" : "sudo ";
  std::vector<std::string> commands;
  if (::access(kSetcap, X_OK) != 0) commands.push_back(as_root + "apt-get install -y libcap2-bin");
  commands.push_back(fmt::format("{}{} {} {}", as_root, kSetcap, kRights, util::shell_quoted(program)));
  fmt::print("{}\n", kWhat);
  fmt::print("To allow only the members of a group, run first: {0}chgrp GROUP {1} && {0}chmod 750 {1}\n\n", as_root,
             util::shell_quoted(program));
  for (const std::string& command : commands) {
    if (!runs) fmt::print("  {}\n", command);
    if (!runs) continue;
    if (Status done = run(command); !done) return tl::make_unexpected(done.error());
  }
  fmt::print("\nTo undo it: {}setcap -r {}; a new build of the program has no rights either.\n", as_root,
             util::shell_quoted(program));
  if (!runs)
    fmt::print("Nothing was done yet: `mlrun doctor --fix --yes` runs {}.\n", commands.size() == 1 ? "it" : "them");
  return 0;
}

}  // namespace mlrun::commands
