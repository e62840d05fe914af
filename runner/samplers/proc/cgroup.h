// SPDX-License-Identifier: Apache-2.0
// The folders of our cgroup, and of those above it, from the inside of a container too: what lies above the mount point
// is not seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mlrun::proc {

struct Cgroup {
  // From our own cgroup up to the mount point. Empty: none is mounted. `cpu` is that of version 1, or of the unified
  // hierarchy; pressure and its like are in the unified one alone.
  std::vector<std::string> cpu, unified;
  bool is_version_1 = false;  // of `cpu`
};

// `cgroup`, `mountinfo`: texts of /proc/self/cgroup and /proc/self/mountinfo.
Cgroup find_cgroup(const std::string& cgroup, const std::string& mountinfo);

// The smallest limit on processors, in thousandths of one, and the folder of the nearest limit (our own if there is
// none).
struct CpuLimit {
  int64_t thousandths = -1;  // -1: none
  std::string folder;        // empty: no cgroup
};
CpuLimit find_cpu_limit(const Cgroup& cgroup);

}  // namespace mlrun::proc
