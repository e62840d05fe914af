// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/process_tree.h"

#include <algorithm>
#include <tuple>

namespace mlrun::summary {

ProcessTree::ProcessTree(const std::vector<model::ProcessRow>& processes) {
  std::vector<const model::ProcessRow*> by_start;
  by_start.reserve(processes.size());
  for (const model::ProcessRow& process : processes) by_start.push_back(&process);
  std::sort(by_start.begin(), by_start.end(), [](const auto* a, const auto* b) {
    return std::tie(a->first_ns, a->proc_id) < std::tie(b->first_ns, b->proc_id);
  });
  for (const auto* process : by_start) parents_[process->proc_id] = 0;
  for (const auto* process : by_start) {
    const int32_t parent = process->parent_proc_id;
    // Only a damaged trace has a cycle; cuts it, so that every process is reached.
    if (parent == 0 || !parents_.contains(parent) || within(parent, process->proc_id)) continue;
    parents_[process->proc_id] = parent;
    children_[parent].push_back(process->proc_id);
  }
  for (const auto* process : by_start) {
    if (parents_[process->proc_id] == 0) put(process->proc_id);
  }
}

void ProcessTree::put(int32_t root) {
  std::vector<int32_t> open{root};
  while (!open.empty()) {
    const int32_t proc_id = open.back();
    open.pop_back();
    order_.push_back(proc_id);
    if (const auto found = children_.find(proc_id); found != children_.end()) {
      open.insert(open.end(), found->second.rbegin(), found->second.rend());
    }
  }
}

bool ProcessTree::within(int32_t proc_id, int32_t ancestor) const {
  while (proc_id != 0 && proc_id != ancestor) proc_id = parent(proc_id);
  return proc_id != 0;
}

int32_t ProcessTree::parent(int32_t proc_id) const {
  const auto found = parents_.find(proc_id);
  return found == parents_.end() ? 0 : found->second;
}

}  // namespace mlrun::summary
