// SPDX-License-Identifier: Apache-2.0
// The table gpu_file: calls of libcufile. A kernel side table like those of kernel_tables.h.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/events/kernel_record.h"
#include "runner/model/gpu_file.h"
#include "runner/model/trace_info.h"
#include "runner/trace/gpu/gpu_file_calls.h"
#include "runner/trace/kernel/kernel_tables.h"

namespace mlrun::trace {

struct GpuFileTableRow {
  int64_t ts_ns = 0, end_ns = 0;
  model::GpuFileRow row;
};

struct GpuFileColumns;
using GpuFileTable = tables::RowTable<GpuFileColumns, GpuFileTableRow, GroupEnds>;

// Arguments and result of a call. The caller fills in function, times, thread and file.
model::GpuFileRow gpu_file_row(const mlrun_cufile_call& record);
// The same for a batch operation, with its outcome.
model::GpuFileRow gpu_file_row(const events::CufileOperation& operation, const BatchEnd& end);

// Rows of coverage and loss about libcufile calls and batch operations of which something is unknown.
class GpuFileGaps {
 public:
  void add(const model::GpuFileRow& row);
  // For a call that submitted batch operations or returned results; `entries`: how many of its array were recorded.
  void add_array(const mlrun_cufile_call& record, size_t entries);
  void add_rows(model::TraceInfo& info, const GpuFileBatches& batches) const;

 private:
  struct Missing {
    int64_t beyond = 0, unread = 0;
  };
  static void add_missing(model::TraceInfo& info, const Missing& missing, const char* unit);
  int64_t nameless_ = 0, later_ = 0, not_asked_ = 0;
  Missing operations_, results_;
};

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::GpuFileColumns, mlrun::trace::GpuFileTableRow,
                                              mlrun::trace::GroupEnds>;
