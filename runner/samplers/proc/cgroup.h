// SPDX-License-Identifier: Apache-2.0
// Finds the folders of our cgroup and its parents. Works inside a container too, where cgroups above the mount point are
// invisible.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mlrun::proc {

struct Cgroup {
  // Folders from our own cgroup up to the mount point. Empty: no cgroup file system is mounted. `cpu` is in the hierarchy
  // of version 1 or in the unified one; only the unified one has pressure files.
  std::vector<std::string> cpu, unified;
  bool is_version_1 = false;  // whether `cpu` is in a hierarchy of version 1
};

// `cgroup`, `mountinfo`: texts of /proc/self/cgroup and /proc/self/mountinfo.
Cgroup find_cgroup(const std::string& cgroup, const std::string& mountinfo);

// The smallest limit on processors, in thousandths of a processor, and the folder of the nearest cgroup with a limit
// (our own cgroup if none has one).
struct CpuLimit {
  int64_t thousandths = -1;  // -1: no limit
  std::string folder;        // empty: no cgroup
};
CpuLimit find_cpu_limit(const Cgroup& cgroup);

}  // namespace mlrun::proc
