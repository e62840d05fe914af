// SPDX-License-Identifier: Apache-2.0
#include "kprobes/rings/whole_records.h"

#include <algorithm>

#include "kprobes/bpf/shared.h"

namespace mlrun::probes {

namespace {

// Times of different threads may be out of order: by at most the time for which a BPF program is preempted between
// reading the clock and reserving its record. A multiple of MLRUN_SHORT_FOR_NS allows for that.
constexpr uint64_t kForgetAfterNs = 10 * MLRUN_SHORT_FOR_NS;

// Reconstructs the operation of `record` from the last one of its thread.
void advance(mlrun_file_op& operation, const mlrun_short_file_op& record) {
  const uint64_t offset = record.offset_and_rest & MLRUN_SHORT_NO_OFFSET;
  operation.head.time_ns = record.time_ns;
  operation.begin_ns = record.time_ns - record.duration_ns;
  operation.operation += static_cast<uint64_t>(record.step) << MLRUN_OPERATION_STEP_SHIFT;
  operation.offset = offset == MLRUN_SHORT_NO_OFFSET ? UINT64_MAX : offset;
  operation.result = record.result;
  operation.requested = static_cast<uint64_t>(operation.result) + (record.offset_and_rest >> MLRUN_SHORT_OFFSET_BITS);
  operation.op = record.op;
  operation.flags = record.flags;
  // Operations that made pages dirty always have whole records.
  if (operation.dirty_pages != MLRUN_DIRTY_PAGES_UNKNOWN) operation.dirty_pages = 0;
}

}  // namespace

std::string_view WholeRecords::next(const void* record, size_t bytes) {
  const std::string_view as_it_is(static_cast<const char*>(record), bytes);
  const auto kind = static_cast<uint8_t>(as_it_is.front());
  if (kind == MLRUN_KERNEL_FILE_OP && bytes == sizeof(mlrun_file_op)) {
    mlrun_file_op operation{};
    __builtin_memcpy(&operation, record, sizeof operation);
    if (operation.depth == 0) keep(operation);
    return as_it_is;
  }
  if (kind != MLRUN_SHORT_FILE_OP) return as_it_is;
  mlrun_short_file_op operation{};
  if (bytes != sizeof operation) return {};
  __builtin_memcpy(&operation, record, sizeof operation);
  const auto last = threads_.find(operation.tid);
  if (last == threads_.end()) {
    ++unknown_;
    return {};
  }
  advance(last->second.operation, operation);
  return {reinterpret_cast<const char*>(&last->second.operation), sizeof(mlrun_file_op)};
}

// Stores a thread's last whole record. Whenever the table has doubled, drops threads whose last whole record is so old
// that no short record can follow it.
void WholeRecords::keep(const mlrun_file_op& operation) {
  const uint64_t now_ns = operation.head.time_ns;
  threads_[operation.head.tid] = {operation, now_ns};
  if (threads_.size() < forget_at_) return;
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    thread = now_ns > thread->second.whole_ns + kForgetAfterNs ? threads_.erase(thread) : std::next(thread);
  }
  forget_at_ = std::max<size_t>(1024, 2 * threads_.size());
}

}  // namespace mlrun::probes
