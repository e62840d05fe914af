// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/file_rights.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include <array>
#include <utility>

#include <fmt/format.h>

namespace mlrun::launch {

namespace {

// Capabilities that mlrun gives to its own files; others are shown as numbers.
std::string name_of(uint32_t capability) {
  static constexpr std::array<std::pair<uint32_t, const char*>, 3> kNames = {
      {{CAP_SYS_ADMIN, "cap_sys_admin"}, {CAP_PERFMON, "cap_perfmon"}, {CAP_BPF, "cap_bpf"}}};
  for (const auto& [number, name] : kNames) {
    if (number == capability) return name;
  }
  return std::to_string(capability);
}

bool gives_no_rights(const std::string& program) {
  struct statvfs status {};
  return ::statvfs(program.c_str(), &status) != 0 || (status.f_flag & ST_NOSUID) != 0;
}

}  // namespace

std::string rights_beyond_bounds(const std::string& program) {
  vfs_ns_cap_data data{};
  const ssize_t bytes = ::getxattr(program.c_str(), "security.capability", &data, sizeof data);
  if (bytes < static_cast<ssize_t>(XATTR_CAPS_SZ_2) || gives_no_rights(program)) return {};
  if ((data.magic_etc & VFS_CAP_FLAGS_EFFECTIVE) == 0) return {};  // exec succeeds without them
  std::string names;
  for (uint32_t capability = 0; capability <= CAP_LAST_CAP; capability++) {
    const bool is_given = (data.data[CAP_TO_INDEX(capability)].permitted & CAP_TO_MASK(capability)) != 0;
    if (!is_given || ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1) continue;
    names += (names.empty() ? "" : ", ") + name_of(capability);
  }
  if (names.empty()) return {};
  return fmt::format(
      "{} cannot be executed here: its file has {}, which no process may have here; add it to the container "
      "(docker run --cap-add), or take it from the file (setcap -r)",
      program, names);
}

}  // namespace mlrun::launch
