// SPDX-License-Identifier: Apache-2.0
// The in-order step of pass 2: passes each slice to all that needs the slices in order of time, and keeps what they add up to.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "runner/model/trace_info.h"
#include "runner/summary/meters/builder.h"
#include "runner/summary/meters/mark_meter.h"
#include "runner/trace/coverage/coverage.h"
#include "runner/trace/gpu/gpu_join.h"
#include "runner/trace/marks/log_writes.h"
#include "runner/trace/marks/mark_tracker.h"
#include "runner/trace/marks/mllog.h"
#include "runner/trace/merge/call_fold.h"
#include "runner/trace/merge/gpu_figures.h"
#include "runner/trace/merge/kernel_merge.h"
#include "runner/trace/merge/run_json.h"
#include "runner/trace/merge/sum_table.h"
#include "runner/trace/merge/sums_file.h"
#include "runner/trace/rows/counter_tracker.h"
#include "runner/trace/rows/mapping_files.h"
#include "runner/trace/rows/offset_tracker.h"
#include "runner/trace/rows/slice_rows.h"
#include "runner/trace/spool/session_info.h"
#include "runner/util/result.h"

namespace mlrun::trace {

class RowFeed {
 public:
  // Requires: index, info and kernel outlive it; `info` has the marks of the MLLOG files, and the GPUs.
  RowFeed(SpoolIndex& index, model::TraceInfo& info, const SessionInfo& session, const Mllog& mllog,
          KernelMerge& kernel);
  RowFeed(const RowFeed&) = delete;
  RowFeed& operator=(const RowFeed&) = delete;

  // For a run with --summary-only, before the first slice. `path`: of sums.bin.
  Status load_sums(SpoolIndex& index, const std::string& path);

  // Requires: slices in order of time.
  void add(SliceRows& slice_rows);

  LogWrites log_writes;
  MarkTracker marks;
  GpuJoin gpu_join;
  summary::Builder builder;
  CallFold fold;
  CoverageMeter coverage;
  summary::MarkMeter mark_meter;
  GpuFigures gpu_figures;
  std::optional<SumsFile> sums;  // with --summary-only
  std::optional<SumTable> sum_table;
  RowTotals totals;

 private:
  void add_rows(const SliceRows& slice_rows);
  void look_ahead(const SliceRows& slice_rows, size_t at) const;

  KernelMerge& kernel_;
  OffsetTracker offsets_;
  MappingFiles mappings_;
  CounterTracker counters_;
};

}  // namespace mlrun::trace
