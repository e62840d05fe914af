// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/parents.h"

#include <algorithm>
#include <map>
#include <utility>

namespace mlrun::trace {

namespace {

using Key = std::pair<int64_t, int32_t>;                   // pid namespace, pid in it
using Moments = std::vector<std::pair<int64_t, int32_t>>;  // time, proc_id

// The last one at or before `ts_ns`, of another process than `proc_id`; 0: none.
int32_t last_before(const Moments& moments, int64_t ts_ns, int32_t proc_id) {
  auto at = std::upper_bound(moments.begin(), moments.end(), std::pair(ts_ns, INT32_MAX));
  while (at != moments.begin()) {
    --at;
    if (at->second != proc_id) return at->second;
  }
  return 0;
}

int32_t find(const std::map<Key, Moments>& all, const Key& key, int64_t ts_ns, int32_t proc_id) {
  const auto found = all.find(key);
  return found == all.end() ? 0 : last_before(found->second, ts_ns, proc_id);
}

}  // namespace

void find_parents(std::vector<model::ProcessRow>& processes, const std::vector<ChildFact>& children,
                  const std::vector<Channel>& channels) {
  std::map<Key, Moments> births, begins;
  std::map<Key, Moments> outside;  // by the pid that mlrun sees, whatever the namespace
  for (const ChildFact& child : children) {
    const Channel& channel = channels[child.channel];
    births[{static_cast<int64_t>(channel.about.pid_namespace), static_cast<int32_t>(child.pid)}].emplace_back(
        child.ts_ns, channel.origin.proc_id);
  }
  for (const model::ProcessRow& row : processes) {
    begins[{row.pid_namespace, row.ns_pid}].emplace_back(row.first_ns, row.proc_id);
    outside[{0, row.pid}].emplace_back(row.first_ns, row.proc_id);
  }
  for (auto* moments : {&births, &begins, &outside}) {
    for (auto& [key, list] : *moments) std::sort(list.begin(), list.end());
  }
  for (model::ProcessRow& row : processes) {
    row.parent_proc_id = find(births, {row.pid_namespace, row.ns_pid}, row.first_ns, row.proc_id);
    if (row.parent_proc_id == 0 && row.ppid != 0) {
      row.parent_proc_id = find(begins, {row.pid_namespace, row.ppid}, row.first_ns, row.proc_id);
    }
    if (row.parent_proc_id == 0 && row.ppid != 0) {  // the first of a pid namespace
      row.parent_proc_id = find(outside, {0, row.ppid}, row.first_ns, row.proc_id);
    }
  }
}

}  // namespace mlrun::trace
