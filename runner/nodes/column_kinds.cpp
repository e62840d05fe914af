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

// Without `op_id` and `flow_id`: they have 63 bits, so that adding to them would overflow. They are unique together with `node_id`.
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
    Named{"block_ts", kAt},
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
    Named{"req_id", key(kRequest)},
    Named{"waker_req", key(kRequest)},
    Named{"ofd_id", key(kOpenFile)},
    Named{"gap_id", key(kGap)},
    Named{"gpu_file_id", key(kGpuFile)},
    Named{"batch_id", key(kGpuFile)},
    Named{"sum_id", key(kSum)},
    Named{"syscall_id", key(kSyscall)},
    Named{"slice_id", key(kSlice)},
};

}  // namespace

ColumnMeaning meaning_of(std::string_view table, std::string_view column) {
  if ((table == "loss" || table == "summary_process") && (column == "first" || column == "last")) return kAtOrUnknown;
  const auto* found =
      std::find_if(kColumns.begin(), kColumns.end(), [&](const Named& one) { return one.name == column; });
  return found == kColumns.end() ? ColumnMeaning{} : found->meaning;
}

MeaningByRow meaning_by_row(std::string_view table) {
  if (table == "summary_value") return {"value", "name"};
  if (table == "summary_split") return {"id", "scope"};
  return {};
}

ColumnMeaning meaning_of_row(std::string_view table, std::string_view text) {
  static constexpr std::array kFigures = {Named{"start", kAtOrUnknown}, Named{"batches_from", kAtOrUnknown},
                                          Named{"batches_to", kAtOrUnknown}, Named{"driver_thread_id", key(kThread)}};
  static constexpr std::array kScopes = {Named{"process", key(kProcess)}, Named{"phase", key(kPhase)},
                                         Named{"file", key(kFile)}};
  const auto find = [&](const auto& all) {
    const auto* found = std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == text; });
    return found == all.end() ? ColumnMeaning{} : found->meaning;
  };
  return table == "summary_split" ? find(kScopes) : find(kFigures);
}

}  // namespace mlrun::nodes
