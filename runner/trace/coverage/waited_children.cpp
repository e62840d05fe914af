// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/waited_children.h"

#include <utility>

namespace mlrun::trace {

WaitedChildren::WaitedChildren(const SpoolIndex& index, const model::TraceInfo& info, std::set<int32_t> whole)
    : whole_(std::move(whole)) {
  const auto& channels = index.channels().all();
  for (const ChildEndFact& end : index.notes().child_ends()) {
    waited_.at(child_key(channels[end.channel].origin.proc_id, static_cast<int32_t>(end.pid))) = true;
  }
  for (const ChildFact& child : index.notes().children()) {
    const int32_t parent = channels[child.channel].origin.proc_id;
    if (child.proc_id != 0 && moved_nothing(parent, static_cast<int32_t>(child.pid)))
      moved_nothing_.insert(child.proc_id);
  }
  for (const model::ProcessRow& process : info.processes) {
    if (moved_nothing(process.parent_proc_id, process.ns_pid)) moved_nothing_.insert(process.proc_id);
  }
}

}  // namespace mlrun::trace
