// SPDX-License-Identifier: Apache-2.0
// The single numbers of the summary. `visit` gets the name and unit in table summary_value, the field, its place in the JSON (a JSON pointer), and
// the number that means unknown. Fields without a place are made by steps_json, or missing in the JSON.
#pragma once

#include <cstdint>
#include <string>

#include "runner/summary/summary.h"
#include "runner/summary/tables/columns.h"

namespace mlrun::summary {

struct ValueRow {
  std::string name;
  int64_t value = 0;
  std::string unit;
};

template <>
struct Columns<ValueRow> {
  static constexpr const char* kTable = "summary_value";
  static void visit(auto& visitor, auto& row) {
    visitor("name", row.name);
    visitor("value", row.value);
    visitor("unit", row.unit);
  }
};

void visit_values(auto& summary, const auto& visit) {
  visit("start", "ns", summary.start_ns, "/timeline/start_ns");
  visit("calls", "calls", summary.calls, "/tracing/calls");
  visit("allocations", "calls", summary.allocations, "/tracing/allocations");
  visit("counted_allocations", "calls", summary.counted_allocations, "/tracing/counted_allocations");
  visit("counted_frees", "calls", summary.counted_frees, "/tracing/counted_frees");
  visit("served_calls", "calls", summary.served_calls, "/tracing/served_calls");
  visit("mark_records", "records", summary.mark_records);
  visit("alloc_min", "bytes", summary.alloc_min_bytes, "/tracing/alloc_min_bytes");
  visit("alloc_sample", "bytes", summary.alloc_sample_bytes, "/tracing/alloc_sample_bytes", 0);
  visit("estimated_allocations", "calls", summary.estimated_allocations, "/tracing/estimated_allocations");
  visit("estimated_bytes", "bytes", summary.estimated_bytes, "/tracing/estimated_bytes");
  visit("fold", "ns", summary.fold_ns, "/tracing/fold_ns", 0);
  visit("folded_calls", "calls", summary.folded_calls, "/tracing/folded_calls");
  visit("heap_blocks_left_out", "blocks", summary.heap_blocks_left_out, "/tracing/heap_blocks_left_out");
  visit("heap_bytes_left_out", "bytes", summary.heap_bytes_left_out, "/tracing/heap_bytes_left_out");
  visit("mapped_bytes_left_out", "bytes", summary.mapped_bytes_left_out, "/tracing/mapped_bytes_left_out");
  visit("files_touched", "files", summary.files_touched, "/files_touched");
  visit("files_without_place", "files", summary.files_without_place, "/files_without_place");
  visit("directories_touched", "directories", summary.directories_touched, "/directories_touched");
  visit("reread_bytes_read", "bytes", summary.reread.bytes_read, "/reread/bytes_read");
  visit("reread_distinct_bytes", "bytes", summary.reread.distinct_bytes, "/reread/distinct_bytes");
  visit("reread_page_counted_files", "files", summary.reread.page_counted_files, "/reread/page_counted_files");
  visit("reread_bytes_left_out", "bytes", summary.reread.bytes_left_out, "/reread/bytes_left_out");
  visit("bin", "ns", summary.bin_ns, "/timeline/bin_ns");
  visit("gpu_calls", "calls", summary.gpu_calls.calls, "/gpu_work/calls");
  visit("gpu_call_errors", "calls", summary.gpu_calls.errors, "/gpu_work/call_errors");
  visit("gpu_call_time", "ns", summary.gpu_calls.time_ns, "/gpu_work/call_time_ns");
  visit("gpu_syncs", "waits", summary.gpu_calls.syncs, "/gpu_work/syncs");
  visit("gpu_sync_time", "ns", summary.gpu_calls.sync_ns, "/gpu_work/sync_time_ns");
}

void visit_values_of_answer(auto& answer, const auto& visit) {
  visit("driver_thread_id", "id", answer.driver_thread_id, "/driver/thread_id");
  visit("driver_tid", "id", answer.driver_tid, "/driver/tid");
  visit("driver_pid", "id", answer.driver_pid, "/driver/pid");
  visit("divided_wall", "ns", answer.wall_ns, "/driver/wall_ns");
  visit("startup", "ns", answer.startup_ns, "/startup/explains_ns");
  visit("batches_from", "ns", answer.batches_from_ns, "/batches_from_ns", 0);
  visit("batches_to", "ns", answer.batches_to_ns, "/batches_to_ns", 0);
  visit("without_batch", "ns", answer.without_batch_ns, "/without_batch_ns", -1);
  visit("without_batch_low", "ns", answer.low_ns, "/without_batch_low_ns", -1);
  visit("without_batch_high", "ns", answer.high_ns, "/without_batch_high_ns", -1);
  visit("driver_samples", "samples", answer.samples, "/driver/samples");
  visit("not_followed", "ns", answer.not_followed_ns, "/driver/not_followed_ns");
  visit("driver_waiting", "ns", answer.waiting_ns, "/driver/waiting_ns");
  visit("steps", "steps", answer.steps);
  visit("steps_from", "number", answer.steps_from);
  visit("steps_sure_ppm", "ppm", answer.steps_sure_ppm);
}

}  // namespace mlrun::summary
