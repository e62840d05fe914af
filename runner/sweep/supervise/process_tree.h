// SPDX-License-Identifier: Apache-2.0
// A snapshot of all processes in /proc, and the descendants of some of them.
#pragma once

#include <functional>
#include <vector>

#include "runner/util/proc_files.h"

namespace mlrun::sweep {

struct Process {
  uint32_t pid = 0;
  util::ProcStat stat;
};

// All processes in /proc except those that have ended (zombies).
std::vector<Process> all_processes();

// The processes that `is_root` is true for, and their descendants; never this process.
std::vector<Process> tree_of(const std::vector<Process>& all, const std::function<bool(const Process&)>& is_root);

}  // namespace mlrun::sweep
