// SPDX-License-Identifier: Apache-2.0
// The table gpu_idle: one file, in order of the gaps. Columns: runner/trace/TABLES.md.
#pragma once

#include <string>
#include <unordered_map>

#include "runner/model/gpu_idle.h"
#include "runner/model/trace_info.h"
#include "runner/parquet/parquet_table.h"

namespace mlrun::idle {

class IdleTable {
 public:
  // Requires: `info` outlives this.
  explicit IdleTable(const model::TraceInfo& info);

  // Creates the table's folder below `tables_folder`, and its only file.
  Status open(const std::string& tables_folder);
  Status add(const model::IdleRow& row);
  Status close();
  trace::ParquetTable& parquet() { return table_; }

 private:
  void add_python(const model::IdleRow& row);
  void add_split(const std::optional<model::CallSplit>& split);

  const model::TraceInfo& info_;
  std::unordered_map<int32_t, model::ThreadRow> threads_;
  std::unordered_map<int32_t, int32_t> pids_;  // by process
  trace::ParquetTable table_{"gpu_idle"};
  trace::Int64Column& ts_ = table_.int64("ts", trace::Encoding::kDelta);
  trace::Int64Column& dur_ = table_.int64("dur", trace::Encoding::kSplit);
  trace::Int64Column& gap_id_ = table_.int64("gap_id", trace::Encoding::kDelta);
  trace::Int32Column& gpu_id_ = table_.optional_int32("gpu_id");
  trace::LabelColumn& label_;
  trace::Int32Column& proc_id_ = table_.optional_int32("proc_id");
  trace::Int32Column& thread_id_ = table_.optional_int32("thread_id");
  trace::Int32Column& pid_ = table_.optional_int32("pid");
  trace::Int32Column& tid_ = table_.optional_int32("tid");
  trace::Int64Column& call_id_ = table_.optional_int64("call_id");
  trace::Int64Column& file_id_ = table_.optional_int64("file_id");
  trace::LabelColumn& proof_;
  trace::Int64Column& proof_ts_ = table_.optional_int64("proof_ts", trace::Encoding::kDelta);
  trace::Int64Column& first_call_id_ = table_.optional_int64("first_call_id");
  trace::Int32Column& hops_ = table_.int32("hops");
  trace::LabelColumn& link_;
  trace::Int32Column& launch_thread_id_ = table_.optional_int32("launch_thread_id");
  trace::Int64Column& correlation_id_ = table_.int64("correlation_id", trace::Encoding::kSplit);
  trace::Int64Column& mark_id_ = table_.optional_int64("mark_id", trace::Encoding::kDelta);
  trace::Int32Column& stack_id_ = table_.optional_int32("stack_id");
  trace::TextColumn& python_line_ = table_.optional_text("python_line");
  trace::Int64Column& own_ = table_.optional_int64("own_ns");
  trace::Int64Column& runq_ = table_.optional_int64("runq_ns");
  trace::Int64Column& vfs_ = table_.optional_int64("vfs_ns");
  trace::Int64Column& queue_ = table_.optional_int64("queue_ns");
  trace::Int64Column& device_ = table_.optional_int64("device_ns");
  trace::Int64Column& remote_ = table_.optional_int64("remote_ns");
  trace::Int64Column& wait_ = table_.optional_int64("wait_ns");
};

}  // namespace mlrun::idle
