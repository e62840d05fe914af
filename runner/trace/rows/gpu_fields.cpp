// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/rows/gpu_fields.h"

#include <algorithm>

namespace mlrun::trace {
namespace {

// The numbers behind those of the kinds that have rows are taken: a further kind of rows needs a table here.
static_assert(MLRUN_GPU_API + model::kGpuKinds == MLRUN_GPU_CALLER);
model::GpuKind gpu_kind(uint16_t record_kind) { return static_cast<model::GpuKind>(record_kind - MLRUN_GPU_API); }

}  // namespace

model::GpuWorkRow gpu_row(const decode::GpuWorkEvent& work, const Channel& channel, SpoolIndex& index) {
  const uint32_t process = channel.about.process;
  const GpuFacts& facts = index.gpu_facts();
  model::GpuWorkRow row;
  const int64_t end_ns = TraceClock::from_monotonic(work.end_ns);
  row.origin = channel.origin;
  row.origin.ts_ns = std::min(TraceClock::from_monotonic(work.start_ns), end_ns);
  row.origin.thread_id = 0;
  row.origin.tid = static_cast<int32_t>(work.tid);
  row.dur_ns = end_ns - row.origin.ts_ns;
  row.kind = gpu_kind(work.kind);
  row.clock = static_cast<uint8_t>(std::min<uint32_t>(work.clock, UINT8_MAX));
  row.correlation = work.correlation;
  row.context = work.context;
  row.stream = work.stream;
  row.graph = work.graph;
  row.graph_node = work.graph_node;
  row.bytes = static_cast<int64_t>(std::min<uint64_t>(work.bytes, INT64_MAX));
  row.detail = work.detail;
  row.result = work.result;
  std::copy(std::begin(work.grid), std::end(work.grid), row.grid.begin());
  std::copy(std::begin(work.block), std::end(work.block), row.block.begin());
  row.static_shared = work.static_shared;
  row.dynamic_shared = work.dynamic_shared;
  row.local_bytes = work.local_bytes;
  row.value = work.value;
  row.event = work.event;
  row.busy_ns = static_cast<int64_t>(std::min<uint64_t>(work.busy_ns, INT64_MAX));
  row.address = work.address;
  row.pool = work.pool;
  row.pool_bytes = static_cast<int64_t>(work.pool_bytes);
  row.pool_used = static_cast<int64_t>(work.pool_used);
  const bool is_call = row.kind == model::GpuKind::kApi;
  row.name = work.name;
  if (is_call) row.runtime = work.detail >> 24 == MLRUN_GPU_RUNTIME ? 1 : 0;
  if (!is_call && row.kind != model::GpuKind::kSync) row.gpu_id = facts.gpu_id(process, work.device);
  if (work.between_devices) {
    row.source_gpu_id = facts.gpu_id(process, work.source_device);
    row.target_gpu_id = facts.gpu_id(process, work.target_device);
  }
  return row;
}

}  // namespace mlrun::trace
