// SPDX-License-Identifier: Apache-2.0
// Makes run.json: what session.json reports about the run, and the results of the merge. Keys: TABLES.md.
#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/trace/gpu/gpu_join.h"
#include "runner/trace/index/spool_index.h"
#include "runner/trace/samples/gpu_samples.h"
#include "runner/trace/samples/host_samples.h"

namespace mlrun::trace {

struct RowTotals {
  int64_t calls = 0, allocs = 0, alloc_small = 0;
  int64_t marks = 0, python_stacks = 0, unmatched_mark_ends = 0;
  GpuSampleTotals gpu_samples;
  HostSampleTotals host_samples;
  GpuTotals gpu;

  [[nodiscard]] uint64_t damaged_samples() const { return gpu_samples.damaged_rows + host_samples.damaged_rows; }
};

// Requires: the small tables of `info` are complete, except for rows that the summary adds.
nlohmann::json make_run_json(const model::Run& session, SpoolIndex& index, const model::TraceInfo& info,
                             const RowTotals& totals);

}  // namespace mlrun::trace
