// SPDX-License-Identifier: Apache-2.0
// Looks at GPUs, from the spool to the tables sample_gpu, sample_gpu_process and sample_gpu_driver. They are few beside events and
// stand in the spool in the order of time, so they are written in one go, a frame at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/summary/meters/gpu_meter.h"
#include "runner/trace/index/spool_index.h"
#include "runner/trace/spool/session_info.h"
#include "runner/util/result.h"

namespace mlrun::trace {

struct GpuSampleTotals {
  int64_t gpu_rows = 0, process_rows = 0, driver_rows = 0;
  uint64_t damaged_rows = 0;  // of frames that break the rules
};

// The GPUs that the spool tells of. Texts that cannot be read are left out.
std::vector<model::GpuRow> read_gpus(const std::vector<std::string>& texts);

// Writes the tables of samples; each has a file even without rows. Requires: info.processes and info.gpus are
// complete.
Result<GpuSampleTotals> write_gpu_samples(const SpoolIndex& index, const model::TraceInfo& info,
                                          const std::string& tables_folder, summary::GpuMeter& meter);

// Where the driver answered so slowly that one look in ten or more was left out, and what it does not sample by itself.
std::vector<model::CoverageRow> gpu_sample_coverage(const SessionInfo& session, const model::TraceInfo& info);

// What holds the clocks down, as words: "sw_power_cap hw_thermal".
std::string throttle_text(int64_t reasons);

}  // namespace mlrun::trace
