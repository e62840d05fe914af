// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/operation_totals.h"

#include <algorithm>

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

}  // namespace

summary::SplitKind split_kind(const mlrun_file_op& record) {
  if (record.op == MLRUN_FILE_FAULT) return summary::SplitKind::kFaults;
  const bool is_later = (record.flags & MLRUN_FILE_LATER) != 0;
  return is_later ? summary::SplitKind::kAsynchronous : summary::SplitKind::kOperations;
}

std::optional<summary::Totals> totals_of(const FileOpRow& row, bool by_system_calls) {
  const mlrun_file_op& record = row.record;
  const bool writes_copy = by_system_calls && record.outer != 0 && record.op == MLRUN_FILE_SPLICE_WRITE;
  if (record.outer != 0 && !writes_copy) return std::nullopt;
  if (record.op == MLRUN_FILE_FAULT || record.op == MLRUN_FILE_CLONE || record.op >= MLRUN_FILE_OPS)
    return std::nullopt;
  const bool is_later = (record.flags & MLRUN_FILE_LATER) != 0;
  const int64_t result = is_later ? (row.done ? row.done->result : 0) : record.result;
  summary::Totals totals;
  totals.calls = writes_copy ? 0 : 1;  // its call and its time are those of the read
  totals.errors = !writes_copy && result < 0 ? 1 : 0;
  totals.time_ns = writes_copy ? 0 : row.end_ns - row.ts_ns;
  totals.metadata_calls = is_metadata(record.op) ? 1 : 0;
  if (reads(record.op)) {
    totals.read_calls = 1;
    totals.bytes_read = std::max<int64_t>(result, 0);
  }
  if (writes(record.op)) {
    totals.write_calls = 1;
    totals.bytes_written = std::max<int64_t>(result, 0);
  }
  return totals;
}

}  // namespace mlrun::trace
