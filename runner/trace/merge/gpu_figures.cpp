// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/gpu_figures.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace mlrun::trace {

void GpuFigures::add(const model::GpuWorkRow& row, const summary::MarkPaths& paths) {
  host_buffers_.add(row);
  if (row.kind == model::GpuKind::kMemory) return memory_.add(row);
  work_.add(row);
  if (model::is_on_device(row.kind)) marks_.add(row, paths);
}

Status GpuFigures::blame_gaps(const idle::IdleOptions& options, const model::TraceInfo& info,
                              const idle::PythonLines& lines, const summary::MarkPaths& paths) {
  idle::IdlePass pass(options, info, lines);
  steps_.sort();
  idle::GapFinder::Found found = gaps_.finish();
  for (const idle::Gap& gap : found.gaps) {
    marks_.add_idle(gap.gpu_id, gap.mark_path, gap.end_ns - gap.start_ns, paths);
  }
  if (Status blamed = pass.run(std::move(found), steps_); !blamed) return blamed;
  idle_ = pass.sums();
  idle_coverage_ = pass.coverage();
  return {};
}

nlohmann::json GpuFigures::describe_steps() const { return steps_.describe(); }

void GpuFigures::finish(const model::TraceInfo& info, const summary::MarkPaths& paths, summary::Summary& summary) {
  summary.gpu_work = work_.devices(info.gpus);
  summary.gpu_kernels = work_.kernels(info.names);
  summary.gpu_calls = work_.calls();
  summary.gpu_marks = marks_.finish(paths, info.names);
  summary.gpu_memory = memory_.finish(info);
  summary.gpu_stacks = memory_.stacks(info);
  summary.gpu_hosts = host_buffers_.finish(info);
  summary.gpu_idle = std::move(idle_);
}

}  // namespace mlrun::trace
