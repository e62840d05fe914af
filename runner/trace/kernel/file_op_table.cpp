// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/file_op_table.h"

#include <algorithm>
#include <array>

#include "runner/parquet/row_columns.h"
#include "runner/trace/files/device_number.h"

namespace mlrun::trace {

namespace {

using tables::kDelta;
using tables::kSplit;

constexpr size_t kDataSync = MLRUN_FILE_OPS, kUnknownOp = MLRUN_FILE_OPS + 1;

constexpr std::array kFileOps = {"read",   "write", "fsync",     "open",     "close",       "unlink",
                                 "rename", "mkdir", "rmdir",     "truncate", "splice read", "splice write",
                                 "fault",  "clone", "fdatasync", "other"};

size_t op_index(const mlrun_file_op& record) {
  if (record.op == MLRUN_FILE_SYNC && (record.flags & MLRUN_FILE_DATA_ONLY) != 0) return kDataSync;
  return record.op < MLRUN_FILE_OPS ? record.op : kUnknownOp;
}

bool moves_bytes(uint32_t op) {
  return op == MLRUN_FILE_READ || op == MLRUN_FILE_WRITE || op == MLRUN_FILE_SPLICE_READ ||
         op == MLRUN_FILE_SPLICE_WRITE || op == MLRUN_FILE_FAULT || op == MLRUN_FILE_CLONE;
}

// A length of a record; -1: unknown, or the record is damaged.
int64_t length_of(uint64_t bytes) { return bytes > INT64_MAX ? -1 : static_cast<int64_t>(bytes); }

int32_t errno_of(int64_t result) {
  return result < 0 ? static_cast<int32_t>(std::min<int64_t>(-(result + 1), INT32_MAX - 1)) + 1 : 0;
}

}  // namespace

struct FileOpColumns {
  static constexpr const char* kTable = "vfs";
  static void visit(auto& visitor, const FileOpRow& row, const GroupEnds& ends) {
    using model::CallSplit;
    const mlrun_file_op& record = row.record;
    const bool is_open = (record.flags & MLRUN_FILE_LATER) != 0 && !row.done;
    const int64_t result = row.done ? row.done->result : record.result;
    visit_span(visitor, row, ends);
    visit_owner(visitor, row.origin);
    visitor("op_id", record.operation, kDelta);
    visitor.optional("outer_op_id", record.outer, 0, kDelta);
    visitor("depth", static_cast<int32_t>(record.depth));
    visitor.optional("call_id", row.call_id, 0, kDelta);
    visitor.label("op", op_index(record), kFileOps);
    visitor.optional("dev", tables::value_if(record.inode != 0, stat_device(record.device)));
    visitor.optional("ino", record.inode, 0);
    visitor.optional("file_id", row.file_id, 0);
    visitor.optional("offset", length_of(record.offset), -1, kSplit);
    visitor.optional("requested", moves_bytes(record.op) ? length_of(record.requested) : -1, -1);
    visitor.optional("ret", tables::value_if(!is_open, std::max<int64_t>(result, -1)));
    // Another processor may record the completion before the operation returns; `ts_done` is never before `ts`.
    visitor.optional("ts_done",
                     tables::value_if(row.done.has_value(), row.done ? std::max(row.done->time_ns, row.ts_ns) : 0),
                     kDelta);
    visitor("err", errno_of(result));
    visitor("flags", static_cast<int32_t>(record.flags));
    visitor("cpu", static_cast<int32_t>(record.head.cpu));
    visitor.optional("vfs_ns", row.split, &CallSplit::vfs_ns, kSplit);
    visitor.optional("runq_ns", row.split, &CallSplit::runq_ns, kSplit);
    visitor.optional("queue_ns", row.split, &CallSplit::queue_ns, kSplit);
    visitor.optional("device_ns", row.split, &CallSplit::device_ns, kSplit);
    visitor.optional("device_shared_ns", row.split, &CallSplit::device_shared_ns, kSplit);
    visitor.optional("remote_ns", row.split, &CallSplit::remote_ns, kSplit);
    visitor.optional("wait_ns", row.split, &CallSplit::wait_ns, kSplit);
    visitor.optional("gpu_file_id", row.gpu_file_id, 0, kDelta);
    visitor.optional("miss_pages", row.pages, &ReadPages::missing);
    visitor.optional("ra_pages", row.pages, &ReadPages::ahead);
    visitor.optional("dirty_new_pages", int64_t{record.dirty_pages}, MLRUN_DIRTY_PAGES_UNKNOWN);
    visitor.optional("file2_id", row.file2_id, 0);
  }
};

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::FileOpColumns, mlrun::trace::FileOpRow, mlrun::trace::GroupEnds>;
