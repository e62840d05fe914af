// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/column_kinds.h"

#include <algorithm>
#include <array>

namespace mlrun::nodes {

namespace {

using enum KeySpace;

struct Named {
  std::string_view name;
  ColumnMeaning meaning;
};

constexpr ColumnMeaning key(KeySpace space) { return {ColumnKind::kKey, space}; }
constexpr ColumnMeaning kAt = {ColumnKind::kMoment, kProcess}, kAtOrUnknown = {ColumnKind::kMomentOrUnknown, kProcess};

constexpr std::array kColumns = {
    Named{"ts", kAt},
    Named{"end_min", kAt},
    Named{"end_max", kAt},
    Named{"first", kAt},
    Named{"last", kAt},
    Named{"ts_insert", kAt},
    Named{"ts_issue", kAt},
    Named{"ts_done", kAt},
    Named{"ts_wake", kAt},
    Named{"ts_queue", kAt},
    Named{"proof_ts", kAt},
    Named{"heap_peak_ts", kAtOrUnknown},
    Named{"mapped_peak_ts", kAtOrUnknown},
    Named{"dur", {ColumnKind::kDuration, kProcess}},
    Named{"proc_id", key(kProcess)},
    Named{"parent_proc_id", key(kProcess)},
    Named{"last_proc_id", key(kProcess)},
    Named{"image_id", key(kImage)},
    Named{"thread_id", key(kThread)},
    Named{"poster_thread_id", key(kThread)},
    Named{"launch_thread_id", key(kThread)},
    Named{"file_id", key(kFile)},
    Named{"file2_id", key(kFile)},
    Named{"name_id", key(kName)},
    Named{"site_library", key(kName)},
    Named{"library_id", key(kName)},
    Named{"stack_id", key(kStack)},
    Named{"frame_id", key(kFrame)},
    Named{"mark_id", key(kMark)},
    Named{"phase_id", key(kPhase)},
    Named{"gpu_id", key(kGpu)},
    Named{"parent_id", key(kGpu)},
    Named{"source_gpu_id", key(kGpu)},
    Named{"target_gpu_id", key(kGpu)},
    Named{"call_id", key(kCall)},
    Named{"first_call_id", key(kCall)},
    Named{"op_id", key(kOperation)},
    Named{"outer_op_id", key(kOperation)},
    Named{"req_id", key(kRequest)},
    Named{"waker_req", key(kRequest)},
    Named{"ofd_id", key(kOpenFile)},
    Named{"gap_id", key(kGap)},
    Named{"gpu_file_id", key(kGpuFile)},
    Named{"batch_id", key(kGpuFile)},
    Named{"sum_id", key(kSum)},
    Named{"syscall_id", key(kSyscall)},
};

}  // namespace

ColumnMeaning meaning_of(std::string_view table, std::string_view column) {
  if ((table == "loss" || table == "summary_process") && (column == "first" || column == "last")) return kAtOrUnknown;
  if (table == "summary_split" && column == "id") return {};  // of the kind that `scope` names
  const auto* found =
      std::find_if(kColumns.begin(), kColumns.end(), [&](const Named& one) { return one.name == column; });
  return found == kColumns.end() ? ColumnMeaning{} : found->meaning;
}

ColumnMeaning meaning_of_figure(std::string_view name) {
  if (name == "start" || name == "batches_from" || name == "batches_to") return kAtOrUnknown;
  return name == "driver_thread_id" ? key(kThread) : ColumnMeaning{};
}

}  // namespace mlrun::nodes
