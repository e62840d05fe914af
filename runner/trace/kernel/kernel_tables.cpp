// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/kernel_tables.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "runner/parquet/row_columns.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/kernel/block_status.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using tables::kDelta;
using tables::kSplit;
using tables::value_if;

constexpr uint64_t kNoSector = ~uint64_t{0};

constexpr std::array kBlockOps = {"read", "write", "flush", "discard", "secure erase", "write zeroes", "zone", "other"};
size_t op_index(uint32_t op) { return std::min<size_t>(op, MLRUN_BLOCK_OTHER); }

// Names of the kernel's task states, by bit. A waiting thread has exactly one of these bits; further bits are details.
constexpr std::array kTaskStates = {"running", "interruptible", "uninterruptible", "other"};
size_t state_index(uint32_t state) {
  constexpr uint32_t kInterruptible = 1, kUninterruptible = 2;
  if (state == 0) return 0;
  if ((state & kInterruptible) != 0) return 1;
  return (state & kUninterruptible) != 0 ? 2 : 3;
}

}  // namespace

struct RequestColumns {
  static constexpr const char* kTable = "block";
  static void visit(auto& visitor, const RequestRow& row, const GroupEnds& ends) {
    const mlrun_block_request& record = row.record;
    visit_span(visitor, row, ends);
    visitor("req_id", record.request, kDelta);
    visitor.optional("ts_insert", record.inserted_at_ns, 0, kDelta);
    visitor.optional("ts_issue", record.issued_at_ns, 0, kDelta);
    visitor("ts_done", row.end_ns, kDelta);
    visitor("dev", stat_device(record.device));
    visitor.optional("sector", record.op == MLRUN_BLOCK_FLUSH ? kNoSector : record.sector, kNoSector, kSplit);
    visitor("bytes", record.bytes);
    visitor.label("op", op_index(record.op), kBlockOps);
    visitor("flags", static_cast<int32_t>(record.flags));
    visitor("err", block_errno(record.error));
    visitor("issues", static_cast<int32_t>(record.issues));
    visitor("parts", static_cast<int32_t>(record.fragments));
    visitor("done_pid", static_cast<int32_t>(record.head.pid));
    visitor("done_tid", static_cast<int32_t>(record.head.tid));
    visitor("cpu", static_cast<int32_t>(record.head.cpu));
    visitor("done_comm", util::field_text(record.comm));
  }
};

struct FragmentColumns {
  static constexpr const char* kTable = "block_part";
  static void visit(auto& visitor, const FragmentRow& row, const GroupEnds& ends) {
    const mlrun_bio_fragment& record = row.record;
    const bool has_pages = record.file_end != 0;
    visit_span(visitor, row, ends);
    visit_owner(visitor, row.origin);
    visitor("comm", util::field_text(record.comm));
    visitor.optional("req_id", record.request, 0, kDelta);
    visitor.optional("op_id", record.operation, 0, kDelta);
    visitor.optional("call_id", row.call_id, 0, kDelta);
    visitor("dev", stat_device(record.device));
    visitor("fs_dev", stat_device(record.file_device));
    visitor.optional("ino", value_if(has_pages, record.inode));
    visitor.optional("file_id", row.file_id, 0);
    visitor.optional("bio_lo", value_if(has_pages, record.file_begin), kSplit);
    visitor.optional("bio_hi", value_if(has_pages, record.file_end), kSplit);
    visitor.optional("sector", record.request == 0 ? kNoSector : record.sector, kNoSector, kSplit);
    visitor("bytes", record.bytes);
    visitor.label("op", op_index(record.op), kBlockOps);
    visitor("flags", static_cast<int32_t>(record.flags));
    visitor.optional("ts_issue", record.issued_at_ns, 0, kDelta);
    visitor.optional("cgroup_id", record.cgroup, 0);
  }
};

struct WaitColumns {
  static constexpr const char* kTable = "wait";
  static void visit(auto& visitor, const WaitRow& row, const GroupEnds& ends) {
    const mlrun_wait& record = row.record;
    const auto wake_ns = std::clamp(static_cast<int64_t>(record.wake_ns), row.ts_ns, row.end_ns);
    const bool linked = record.waker_request != 0;
    visit_span(visitor, row, ends);
    visit_owner(visitor, row.origin);
    visitor.optional("ts_wake", value_if(record.state != 0, wake_ns), kDelta);
    visitor("runq_ns", row.end_ns - wake_ns, kSplit);
    visitor.label("state", state_index(record.state), kTaskStates);
    visitor("preempted", (record.flags & MLRUN_WAIT_PREEMPTED) != 0);
    visitor("in_iowait", (record.flags & MLRUN_WAIT_IO) != 0);
    visitor("submitting", (record.flags & MLRUN_WAIT_SUBMITTING) != 0);
    visitor("early", (record.flags & MLRUN_WAIT_EARLY) != 0);
    visitor("wake_lost", (record.flags & MLRUN_WAIT_LOST_WAKE) != 0);
    visitor("throttled", (record.flags & MLRUN_WAIT_THROTTLED) != 0);
    visitor.optional("op_id", record.operation, 0, kDelta);
    visitor.optional("waker_tid", static_cast<int32_t>(record.waker_tid), 0);
    visitor("cpu", static_cast<int32_t>(record.head.cpu));
    visitor.optional("waker_req", value_if(linked, record.waker_request), kDelta);
    visitor.optional("waker_age_ns", value_if(linked, record.waker_age_ns), kSplit);
  }
};

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::RequestColumns, mlrun::trace::RequestRow, mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::FragmentColumns, mlrun::trace::FragmentRow,
                                       mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::WaitColumns, mlrun::trace::WaitRow, mlrun::trace::GroupEnds>;
