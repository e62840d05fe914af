// SPDX-License-Identifier: Apache-2.0
// Writes GPU samples from the spool to the tables sample_gpu, sample_gpu_process and sample_gpu_driver. They are few
// compared with events and in order of time in the spool, so they are written in one pass, frame by frame.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/parquet/row_table.h"
#include "runner/summary/gpu/gpu_meter.h"
#include "runner/trace/index/spool_index.h"
#include "runner/util/result.h"

namespace mlrun::trace {

struct GpuSampleTotals {
  int64_t gpu_rows = 0, process_rows = 0, driver_rows = 0;
  uint64_t damaged_rows = 0;  // in malformed frames
};

// The GPUs that the spool describes. Malformed texts are ignored.
std::vector<model::GpuRow> read_gpus(const std::vector<std::string>& texts);

// Writes the sample tables; each has a file even without rows. Requires: info.processes and info.gpus are complete.
Result<GpuSampleTotals> write_gpu_samples(const SpoolIndex& index, const model::TraceInfo& info,
                                          const std::string& tables_folder, summary::GpuMeter& meter);

// As tables::visit_empty(), of the sample tables.
Status visit_gpu_sample_tables(const tables::TableVisit& visit);

// Rows about values that the driver does not sample by itself, and one if the driver was so slow that a tenth or more of
// the samples were skipped.
std::vector<model::CoverageRow> gpu_sample_coverage(const model::Run& session, const model::TraceInfo& info);

// NVML's clock throttle reasons (bits) as words: "sw_power_cap hw_thermal".
std::string throttle_text(int64_t reasons);

}  // namespace mlrun::trace
