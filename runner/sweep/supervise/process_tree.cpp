// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/supervise/process_tree.h"

#include <unistd.h>

#include <unordered_map>
#include <unordered_set>

namespace mlrun::sweep {

std::vector<Process> all_processes() {
  std::vector<Process> all;
  for (const uint32_t pid : util::numbers_in("/proc")) {
    const auto stat = util::read_proc_stat(pid);
    if (stat && !stat->ended) all.push_back({pid, *stat});
  }
  return all;
}

std::vector<Process> tree_of(const std::vector<Process>& all, const std::function<bool(const Process&)>& is_root) {
  const auto self = static_cast<uint32_t>(::getpid());
  std::unordered_multimap<uint32_t, const Process*> children;
  std::vector<const Process*> open;
  for (const Process& process : all) {
    children.emplace(process.stat.ppid, &process);
    if (is_root(process)) open.push_back(&process);
  }
  std::unordered_set<uint32_t> known = {self};
  std::vector<Process> found;
  while (!open.empty()) {
    const Process* next = open.back();
    open.pop_back();
    if (!known.insert(next->pid).second) continue;
    found.push_back(*next);
    const auto [from, to] = children.equal_range(next->pid);
    for (auto child = from; child != to; ++child) open.push_back(child->second);
  }
  return found;
}

}  // namespace mlrun::sweep
