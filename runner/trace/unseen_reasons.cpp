// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/unseen_reasons.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mlrun::trace {

UnseenReasons::UnseenReasons(SpoolIndex& index, const model::TraceInfo& info, std::set<int32_t> with_executed)
    : with_executed_(std::move(with_executed)) {
  for (const auto& [serial, gap] : index.gaps()) {
    was_paused_ |= gap.reason == MLRUN_GAP_PAUSED;
    was_stopped_ |=
        gap.reason == MLRUN_GAP_SPOOL_FULL || gap.reason == MLRUN_GAP_DISK_FULL || gap.reason == MLRUN_GAP_COLLECTOR;
  }
  for (const model::ProcessRow& process : info.processes) {
    if (process.kernel_rchar < 0) with_unended_children_.insert(process.parent_proc_id);
  }
  // Children whose pid no recording process ever had.
  std::set<std::pair<int64_t, int32_t>> recorded;  // pid namespace and pid in it
  for (const model::ProcessRow& process : info.processes) recorded.insert({process.pid_namespace, process.ns_pid});
  for (const ChildFact& child : index.notes().children()) {
    const Channel& parent = index.channels().all()[child.channel];
    const auto pid = static_cast<int32_t>(child.pid);
    if (recorded.contains({static_cast<int64_t>(parent.about.pid_namespace), pid})) continue;
    ++silent_[parent.origin.proc_id];
  }
}

std::string UnseenReasons::why(int32_t proc_id) const {
  std::vector<const char*> reasons;
  if (was_paused_) reasons.push_back("while recording was paused");
  if (was_stopped_) reasons.push_back("after recording had stopped");
  if (silent_.contains(proc_id)) reasons.push_back("by children that recorded nothing");
  if (with_unended_children_.contains(proc_id)) {
    reasons.push_back("by children that were killed, or went on as a program without the library");
  }
  if (with_executed_.contains(proc_id)) reasons.push_back("by a program that it executed and that cannot be followed");
  if (reasons.empty()) return "by the system call instruction, io_uring or inside libc";
  return fmt::format("{}", fmt::join(reasons, ", or "));
}

void UnseenReasons::add_children(std::vector<model::CoverageRow>& rows) const {
  for (const auto& [proc_id, count] : silent_) {
    rows.push_back(
        {proc_id, "child processes", "they recorded nothing: setuid, statically linked, or gone at once", 0, count});
  }
}

}  // namespace mlrun::trace
