// SPDX-License-Identifier: Apache-2.0
// Writes samples of the machine's counters from the spool to the tables sample_cpu, sample_disk, sample_net,
// sample_memory, sample_process and sample_bandwidth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/parquet/row_table.h"
#include "runner/summary/summary.h"
#include "runner/trace/index/spool_index.h"
#include "runner/util/result.h"

namespace mlrun::trace {

struct CounterSampleTotals {
  std::vector<summary::MachineUse> machine;
  int64_t rows = 0;
  uint64_t damaged_rows = 0;  // in malformed frames
};

// Each table but sample_memory has a file even without rows; sample_memory gets one from the kernel side or at the end of
// the merge. Requires: threads of `info` are complete.
Result<CounterSampleTotals> write_counter_samples(const SpoolIndex& index, const model::TraceInfo& info,
                                                  const std::string& tables_folder);

// As tables::visit_empty(), of the tables that always have a file.
Status visit_counter_tables(const tables::TableVisit& visit);

// Rows about counters that could not be sampled on this machine, and one for each cause that took a tenth or more of the samples.
std::vector<model::CoverageRow> counter_sample_coverage(const model::Run& session);

}  // namespace mlrun::trace
