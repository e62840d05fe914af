// SPDX-License-Identifier: Apache-2.0
// The table gpu_idle: one file, in order of the gaps. Columns: runner/trace/TABLES.md.
#pragma once

#include <string>
#include <unordered_map>

#include "runner/model/gpu_idle.h"
#include "runner/model/trace_info.h"
#include "runner/parquet/row_table.h"

namespace mlrun::idle {

// Columns about the thread whose activity is the cause of a piece; 0, or empty: unknown.
struct IdleThread {
  int32_t proc_id = 0, pid = 0, tid = 0;
  std::string python_line;
};

struct IdleColumns;

}  // namespace mlrun::idle

extern template class mlrun::tables::RowTable<mlrun::idle::IdleColumns, mlrun::model::IdleRow, mlrun::idle::IdleThread>;

namespace mlrun::idle {

class IdleTable {
 public:
  // Requires: `info` outlives this.
  explicit IdleTable(const model::TraceInfo& info);

  // Creates the table's folder below `tables_folder`, and its only file.
  Status open(const std::string& tables_folder) { return table_.open_in(tables_folder); }
  Status add(const model::IdleRow& row);
  Status close() { return table_.close(); }
  tables::ParquetTable& parquet() { return table_.parquet(); }

 private:
  const model::TraceInfo& info_;
  std::unordered_map<int32_t, IdleThread> threads_;
  tables::RowTable<IdleColumns, model::IdleRow, IdleThread> table_;
};

}  // namespace mlrun::idle
