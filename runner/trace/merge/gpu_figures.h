// SPDX-License-Identifier: Apache-2.0
// The figures of the summary about GPU work: times, marks, memory, host buffers, and the gaps in which a GPU was idle,
// with what the process did meanwhile.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/idle/idle_pass.h"
#include "runner/idle/steps.h"
#include "runner/model/gpu_rows.h"
#include "runner/model/trace_info.h"
#include "runner/summary/gpu/gpu_mark_meter.h"
#include "runner/summary/gpu/gpu_memory_meter.h"
#include "runner/summary/gpu/gpu_work_meter.h"
#include "runner/summary/summary.h"
#include "runner/trace/merge/host_buffer_pass.h"
#include "runner/util/result.h"

namespace mlrun::trace {

class GpuFigures {
 public:
  explicit GpuFigures(const model::TraceInfo& info) : steps_(info) {}

  // Requires: rows in order of their end. `paths`: paths of the marks added so far.
  void add(const model::GpuWorkRow& row, const summary::MarkPaths& paths);
  void add_work_between_gaps(const model::GpuWorkRow& row) { gaps_.add(row); }  // besides add()
  void add_mark(const model::MarkRow& mark) { steps_.add(mark); }

  // Requires: all other event tables are written.
  Status blame_gaps(const idle::IdleOptions& options, const model::TraceInfo& info, const idle::PythonLines& lines,
                    const summary::MarkPaths& paths);
  // As HostBufferPass::find_sites().
  Status find_sites(const model::TraceInfo& info, int64_t alloc_min_bytes, const std::vector<RecordingPause>& pauses,
                    const std::string& folder) {
    return host_buffers_.find_sites(info, alloc_min_bytes, pauses, folder);
  }

  // Coverage rows about gaps and their causes that exceeded a limit.
  [[nodiscard]] std::vector<model::CoverageRow> take_coverage() { return std::move(idle_coverage_); }
  // As Steps::describe().
  [[nodiscard]] nlohmann::json describe_steps() const;
  void finish(const model::TraceInfo& info, const summary::MarkPaths& paths, summary::Summary& summary);

 private:
  summary::GpuWorkMeter work_;
  summary::GpuMarkMeter marks_;
  summary::GpuMemoryMeter memory_;
  HostBufferPass host_buffers_;
  idle::GapFinder gaps_;
  idle::Steps steps_;
  std::vector<summary::GpuIdleSummary> idle_;
  std::vector<model::CoverageRow> idle_coverage_;
};

}  // namespace mlrun::trace
