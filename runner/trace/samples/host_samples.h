// SPDX-License-Identifier: Apache-2.0
// Writes samples of threads and of the machine from the spool to the tables sample_thread and sample_machine, and to the
// tables of counter_samples.h. Adds a row of `thread` for each thread that was sampled but recorded nothing.
#pragma once

#include <cstdint>
#include <string>

#include "runner/model/trace_info.h"
#include "runner/parquet/row_table.h"
#include "runner/trace/index/spool_index.h"
#include "runner/trace/samples/counter_samples.h"
#include "runner/util/result.h"

namespace mlrun::trace {

struct HostSampleTotals {
  int64_t thread_rows = 0, machine_rows = 0;
  uint64_t damaged_rows = 0;  // in malformed frames
  CounterSampleTotals counters;
};

// Appends rows of sampled threads that recorded nothing to info.threads, and adds missing names to the rows of threads
// that recorded. Requires: processes, images and threads of `info` are complete as far as the spool has them.
Status add_seen_threads(const SpoolIndex& index, model::TraceInfo& info);

// Writes the tables; each has a file even without rows. Requires: add_seen_threads() was called.
Status write_host_samples(const SpoolIndex& index, const model::TraceInfo& info, const std::string& tables_folder,
                          HostSampleTotals& totals);

// As tables::visit_empty(), of sample_thread, sample_machine and the tables of counter_samples.h.
Status visit_host_sample_tables(const tables::TableVisit& visit);

}  // namespace mlrun::trace
