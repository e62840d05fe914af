// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/file_op_table.h"

#include <algorithm>

#include "runner/trace/files/device_number.h"

namespace mlrun::trace {

namespace {

constexpr size_t kDataSync = MLRUN_FILE_OPS, kUnknownOp = MLRUN_FILE_OPS + 1;

std::vector<std::string> op_names() {
  return {"read",  "write",    "fsync",       "open",         "close", "unlink", "rename",    "mkdir",
          "rmdir", "truncate", "splice read", "splice write", "fault", "clone",  "fdatasync", "other"};
}

size_t op_index(const mlrun_file_op& record) {
  if (record.op == MLRUN_FILE_SYNC && (record.flags & MLRUN_FILE_DATA_ONLY) != 0) return kDataSync;
  return record.op < MLRUN_FILE_OPS ? record.op : kUnknownOp;
}

bool moves_bytes(uint32_t op) {
  return op == MLRUN_FILE_READ || op == MLRUN_FILE_WRITE || op == MLRUN_FILE_SPLICE_READ ||
         op == MLRUN_FILE_SPLICE_WRITE || op == MLRUN_FILE_FAULT || op == MLRUN_FILE_CLONE;
}

// Keeps lengths of damaged records valid; -1: unknown.
int64_t length_of(uint64_t bytes) { return bytes > INT64_MAX ? -1 : static_cast<int64_t>(bytes); }

}  // namespace

FileOpTable::FileOpTable()
    : table_("vfs"),
      span_(table_),
      owner_(table_),
      op_id_(table_.int64("op_id", Encoding::kDelta)),
      outer_op_id_(table_.optional_int64("outer_op_id", Encoding::kDelta)),
      depth_(table_.int32("depth")),
      call_id_(table_.optional_int64("call_id", Encoding::kDelta)),
      op_(table_.label("op", op_names())),
      dev_(table_.optional_int64("dev")),
      ino_(table_.optional_int64("ino")),
      file_id_(table_.optional_int64("file_id")),
      offset_(table_.optional_int64("offset", Encoding::kSplit)),
      requested_(table_.optional_int64("requested")),
      ret_(table_.optional_int64("ret")),
      ts_done_(table_.optional_int64("ts_done", Encoding::kDelta)),
      err_(table_.int32("err")),
      flags_(table_.int32("flags")),
      cpu_(table_.int32("cpu")),
      vfs_(table_.optional_int64("vfs_ns", Encoding::kSplit)),
      runq_(table_.optional_int64("runq_ns", Encoding::kSplit)),
      queue_(table_.optional_int64("queue_ns", Encoding::kSplit)),
      device_(table_.optional_int64("device_ns", Encoding::kSplit)),
      device_shared_(table_.optional_int64("device_shared_ns", Encoding::kSplit)),
      remote_(table_.optional_int64("remote_ns", Encoding::kSplit)),
      wait_(table_.optional_int64("wait_ns", Encoding::kSplit)),
      gpu_file_id_(table_.optional_int64("gpu_file_id", Encoding::kDelta)),
      miss_pages_(table_.optional_int64("miss_pages")),
      ra_pages_(table_.optional_int64("ra_pages")),
      dirty_new_pages_(table_.optional_int64("dirty_new_pages")),
      file2_id_(table_.optional_int64("file2_id")) {}

void FileOpTable::add_split(const std::optional<model::CallSplit>& split) {
  const auto put = [&](Int64Column& column, int64_t model::CallSplit::*part) {
    split ? column.add((*split).*part) : column.add_null();
  };
  put(vfs_, &model::CallSplit::vfs_ns);
  put(runq_, &model::CallSplit::runq_ns);
  put(queue_, &model::CallSplit::queue_ns);
  put(device_, &model::CallSplit::device_ns);
  put(device_shared_, &model::CallSplit::device_shared_ns);
  put(remote_, &model::CallSplit::remote_ns);
  put(wait_, &model::CallSplit::wait_ns);
}

void FileOpTable::add(const FileOpRow& row, const GroupEnds& ends) {
  const mlrun_file_op& record = row.record;
  span_.add(row.ts_ns, row.end_ns, ends);
  owner_.add(row.origin);
  op_id_.add(static_cast<int64_t>(record.operation));
  outer_op_id_.add_unless(0, static_cast<int64_t>(record.outer));
  depth_.add(static_cast<int32_t>(record.depth));
  call_id_.add_unless(0, row.call_id);
  op_.add(op_index(record));
  record.inode == 0 ? dev_.add_null() : dev_.add(stat_device(record.device));
  ino_.add_unless(0, static_cast<int64_t>(record.inode));
  file_id_.add_unless(0, row.file_id);
  offset_.add_unless(-1, length_of(record.offset));
  requested_.add_unless(-1, moves_bytes(record.op) ? length_of(record.requested) : -1);
  const bool is_open = (record.flags & MLRUN_FILE_LATER) != 0 && !row.done;
  const int64_t result = row.done ? row.done->result : record.result;
  is_open ? ret_.add_null() : ret_.add(std::max<int64_t>(result, -1));
  // The completion may be recorded on another processor before the operation returns.
  row.done ? ts_done_.add(std::max(row.done->time_ns, row.ts_ns)) : ts_done_.add_null();
  err_.add(result < 0 ? static_cast<int32_t>(std::min<int64_t>(-(result + 1), INT32_MAX - 1)) + 1 : 0);
  flags_.add(static_cast<int32_t>(record.flags));
  cpu_.add(static_cast<int32_t>(record.head.cpu));
  add_split(row.split);
  gpu_file_id_.add_unless(0, row.gpu_file_id);
  row.pages ? miss_pages_.add(row.pages->missing) : miss_pages_.add_null();
  row.pages ? ra_pages_.add(row.pages->ahead) : ra_pages_.add_null();
  dirty_new_pages_.add_unless(MLRUN_DIRTY_PAGES_UNKNOWN, record.dirty_pages);
  file2_id_.add_unless(0, row.file2_id);
  table_.row_added();
}

}  // namespace mlrun::trace
