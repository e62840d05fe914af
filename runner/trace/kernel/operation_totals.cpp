// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/operation_totals.h"

#include <algorithm>
#include <cerrno>

namespace mlrun::trace {

namespace {

bool reads(uint32_t op) { return op == MLRUN_FILE_READ || op == MLRUN_FILE_SPLICE_READ; }
bool writes(uint32_t op) { return op == MLRUN_FILE_WRITE || op == MLRUN_FILE_SPLICE_WRITE; }

bool is_metadata(uint32_t op) {
  switch (op) {
    case MLRUN_FILE_OPEN:
    case MLRUN_FILE_CLOSE:
    case MLRUN_FILE_UNLINK:
    case MLRUN_FILE_RENAME:
    case MLRUN_FILE_MKDIR:
    case MLRUN_FILE_RMDIR:
    case MLRUN_FILE_TRUNCATE: return true;
    default: return false;
  }
}

// Result of the operation; 0 if it is asynchronous and its completion was not recorded.
int64_t result_of(const FileOpRow& row) {
  if ((row.record.flags & MLRUN_FILE_LATER) == 0) return row.record.result;
  return row.done ? row.done->result : 0;
}

// Whether this is a failed first attempt of an asynchronous operation: the kernel retries it, and the program does not
// see the failure.
bool is_asked_again(const FileOpRow& row) {
  return (row.record.flags & MLRUN_FILE_ASYNC) != 0 && result_of(row) == -EAGAIN;
}

void add_bytes(summary::Totals& totals, uint32_t op, int64_t result) {
  if (reads(op)) totals.bytes_read = std::max<int64_t>(result, 0);
  if (writes(op)) totals.bytes_written = std::max<int64_t>(result, 0);
}

}  // namespace

summary::SplitKind split_kind(const mlrun_file_op& record) {
  if (record.op == MLRUN_FILE_FAULT) return summary::SplitKind::kFaults;
  const bool is_asynchronous = (record.flags & (MLRUN_FILE_LATER | MLRUN_FILE_ASYNC)) != 0;
  return is_asynchronous ? summary::SplitKind::kAsynchronous : summary::SplitKind::kOperations;
}

std::optional<summary::Totals> totals_of(const FileOpRow& row, bool by_system_calls) {
  const mlrun_file_op& record = row.record;
  const bool writes_copy = by_system_calls && record.outer != 0 && record.op == MLRUN_FILE_SPLICE_WRITE;
  if (record.outer != 0 && !writes_copy) return std::nullopt;
  if (record.op == MLRUN_FILE_FAULT || record.op == MLRUN_FILE_CLONE || record.op >= MLRUN_FILE_OPS)
    return std::nullopt;
  const int64_t result = result_of(row);
  summary::Totals totals;
  totals.time_ns = writes_copy ? 0 : row.end_ns - row.ts_ns;  // the row of the read end has the time
  if (is_asked_again(row)) return totals;
  totals.calls = writes_copy ? 0 : 1;
  totals.errors = !writes_copy && result < 0 ? 1 : 0;
  totals.metadata_calls = is_metadata(record.op) ? 1 : 0;
  totals.read_calls = reads(record.op) ? 1 : 0;
  totals.write_calls = writes(record.op) ? 1 : 0;
  add_bytes(totals, record.op, result);
  return totals;
}

std::optional<summary::Totals> bytes_of_asynchronous(const FileOpRow& row) {
  if (row.record.outer != 0 || split_kind(row.record) != summary::SplitKind::kAsynchronous) return std::nullopt;
  summary::Totals totals;
  add_bytes(totals, row.record.op, result_of(row));
  return totals;
}

}  // namespace mlrun::trace
