// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/record_calls.h"

#include <algorithm>

#include "runner/decode/limits.h"

namespace mlrun::trace {

namespace {

constexpr uint64_t kClocksNs = 1000;  // maximum lag of the kernel side's times behind the times of calls

}  // namespace

void RecordCalls::add(uint32_t tid, uint64_t ns) {
  by_thread_[static_cast<int32_t>(tid)].push_back({static_cast<int64_t>(ns), static_cast<uint32_t>(calls_.size())});
  calls_.push_back(0);
}

void RecordCalls::add(const mlrun_bio_fragment& fragment) {
  if (calls_.size() >= decode::kJoinedFragmentsMax) return;
  if ((fragment.flags & (MLRUN_BLOCK_WRITEBACK | MLRUN_BLOCK_METADATA_WRITE)) != 0) {
    calls_.push_back(0);
  } else {
    add(fragment.head.tid, fragment.queued_at_ns);
  }
}

void RecordCalls::add(const mlrun_file_op& operation) {
  if (calls_.size() >= decode::kJoinedFileOpsMax) return;
  const uint64_t end_ns = operation.head.time_ns, begin_ns = std::min<uint64_t>(operation.begin_ns, end_ns);
  add(operation.head.tid, begin_ns + (end_ns - begin_ns) / 2);
}

void RecordCalls::add(const mlrun_remote& request) {
  if (calls_.size() >= decode::kJoinedFileOpsMax) return;
  add(request.head.tid, request.begin_ns < request.head.time_ns
                            ? std::min<uint64_t>(request.begin_ns + kClocksNs, request.head.time_ns)
                            : request.head.time_ns);
}

void RecordCalls::sort() {
  for (auto& [tid, records] : by_thread_) {
    std::stable_sort(records.begin(), records.end(), [](const Queued& a, const Queued& b) { return a.ns < b.ns; });
  }
}

void RecordCalls::call(const model::CallRow& row, int64_t call_id) {
  const auto thread = by_thread_.find(row.origin.tid);
  if (thread == by_thread_.end()) return;
  const auto& records = thread->second;
  auto record = std::lower_bound(records.begin(), records.end(), row.origin.ts_ns,
                                 [](const Queued& candidate, int64_t ns) { return candidate.ns < ns; });
  for (; record != records.end() && record->ns <= row.origin.ts_ns + row.dur_ns; ++record)
    calls_[record->number] = call_id;
}

}  // namespace mlrun::trace
