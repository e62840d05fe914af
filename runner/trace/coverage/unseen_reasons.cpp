// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/unseen_reasons.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mlrun::trace {

UnseenReasons::UnseenReasons(SpoolIndex& index, const model::TraceInfo& info, const ExecutedPrograms& programs)
    : with_executed_(programs.parents()) {
  for (const auto& [serial, gap] : index.gaps()) {
    was_paused_ |= gap.reason == MLRUN_GAP_PAUSED;
    was_stopped_ |=
        gap.reason == MLRUN_GAP_SPOOL_FULL || gap.reason == MLRUN_GAP_DISK_FULL || gap.reason == MLRUN_GAP_COLLECTOR;
  }
  for (const model::ProcessRow& process : info.processes) {
    if (process.kernel_rchar < 0) with_unended_children_.insert(process.parent_proc_id);
  }
  for (const ChildFact& child : index.notes().children()) {
    const int32_t parent = index.channels().all()[child.channel].origin.proc_id;
    const auto pid = static_cast<int32_t>(child.pid);
    Children& children = children_[parent];
    ++children.all;
    if (child.proc_id != 0) continue;
    with_unseen_.insert(parent);
    if (!programs.names_program_of(parent, pid)) children.unseen.push_back(pid);
  }
}

std::string UnseenReasons::why(int32_t proc_id) const {
  std::vector<const char*> reasons;
  if (was_paused_) reasons.push_back("while recording was paused");
  if (was_stopped_) reasons.push_back("after recording had stopped");
  if (with_unseen_.contains(proc_id)) reasons.push_back("by children that recorded nothing");
  if (with_unended_children_.contains(proc_id)) {
    reasons.push_back(
        "by children whose totals are unknown (killed, ended without libc's exit, or replaced by a program without "
        "mlrun's library)");
  }
  if (with_executed_.contains(proc_id)) reasons.push_back("by a program that it executed and that cannot be traced");
  if (reasons.empty()) return "by the system call instruction, by io_uring or inside libc, where no hook is called";
  return fmt::format("{}", fmt::join(reasons, ", or "));
}

void UnseenReasons::add_children(const WaitedChildren& waited, std::vector<model::CoverageRow>& rows) const {
  for (const auto& [proc_id, children] : children_) {
    if (children.unseen.empty()) continue;
    const bool moved_nothing =
        std::all_of(children.unseen.begin(), children.unseen.end(),
                    [&, parent = proc_id](int32_t pid) { return waited.moved_nothing(parent, pid); });
    rows.push_back({proc_id, "child processes", "they recorded nothing: setuid, statically linked, or ended at once",
                    children.all - std::ssize(children.unseen), children.all,
                    moved_nothing ? model::kRemark : model::kUnseen});
  }
}

}  // namespace mlrun::trace
