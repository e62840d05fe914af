// SPDX-License-Identifier: Apache-2.0
#include "runner/decode/gpu_event_view.h"

#include <algorithm>
#include <iterator>

#include "runner/events/host_pages.h"

namespace mlrun::decode {

namespace {

uint32_t low(uint64_t word) { return static_cast<uint32_t>(word); }
uint32_t high(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

void decode_kernel(const uint64_t* w, GpuWorkEvent& work) {
  constexpr uint64_t kHalf = 0xffff;
  work.graph_node = w[5];
  work.grid[0] = low(w[8] >> 8);
  work.block[0] = low(w[8] >> 40 & kHalf);
  work.grid[1] = low(w[9]);
  work.grid[2] = high(w[9]);
  work.block[1] = low(w[10] >> 8 & kHalf);
  work.block[2] = low(w[10] >> 24 & kHalf);
  work.name = w[11];
  work.static_shared = low(w[12] >> 8);
  work.dynamic_shared = low(w[13]);
  work.local_bytes = high(w[13]);
}

void decode_memcpy(const uint64_t* w, GpuWorkEvent& work) {
  constexpr uint64_t kHalf = 0xffff;
  work.bytes = w[5];
  work.source_device = low(w[8] >> 8 & kHalf);
  work.target_device = low(w[8] >> 24 & kHalf);
  work.between_devices = (w[8] >> 40 & 1) != 0;
  work.graph_node = w[9];
}

void decode_memory(const uint64_t* w, GpuWorkEvent& work) {
  work.bytes = w[5];
  work.pool_bytes = w[8] >> 8;
  work.address = w[9];
  work.pool_used = w[10] >> 8;
  work.pool = w[11];
}

constexpr uint32_t gpu_units(uint16_t kind) {
  if (kind == MLRUN_GPU_KERNEL) return 7;
  if (kind == MLRUN_GPU_MEMORY) return 6;
  return kind == MLRUN_GPU_MEMCPY || kind == MLRUN_GPU_MEMSET ? 5 : 4;
}

}  // namespace

bool decode(const RecordView& record, GpuWorkEvent& work) {
  if (record.kind == MLRUN_GPU_HOST || record.units < gpu_units(record.kind)) return false;
  const uint64_t* w = record.words;
  work = GpuWorkEvent{};
  work.kind = record.kind;
  work.correlation = record.arg;
  work.start_ns = w[2] >> 8;
  work.end_ns = w[3];
  work.device = low(w[4] >> 8 & 0xffff);
  work.clock = low(w[4] >> 24 & 0xff);
  work.detail = high(w[4]);
  if (record.kind == MLRUN_GPU_API) {
    work.tid = low(w[5]);
    work.result = high(w[5]);
    work.name = w[7];
    return true;
  }
  if (record.kind == MLRUN_GPU_CALLER) {
    work.address = w[5];
    work.stack = w[7];
    return true;
  }
  work.context = low(w[6] >> 8);
  work.stream = low(w[7]);
  work.graph = high(w[7]);
  if (record.kind == MLRUN_GPU_KERNEL) decode_kernel(w, work);
  if (record.kind == MLRUN_GPU_MEMCPY) decode_memcpy(w, work);
  if (record.kind == MLRUN_GPU_MEMORY) decode_memory(w, work);
  if (record.kind == MLRUN_GPU_MEMORY && record.units > 6) work.site = w[13];
  if (record.kind == MLRUN_GPU_GRAPH) work.busy_ns = w[5];
  if (record.kind == MLRUN_GPU_SYNC) work.event = low(w[5]);
  if (record.kind == MLRUN_GPU_MEMSET) {
    work.bytes = w[5];
    work.value = low(w[8] >> 8);
    work.graph_node = w[9];
  }
  return true;
}

bool decode(const RecordView& record, GpuHostEvent& host) {
  if (record.units < 5) return false;
  const uint64_t* w = record.words;
  const uint32_t detail = high(w[4]);
  host.start_ns = w[2] >> 8;
  host.end_ns = w[3];
  host.asked = std::min<uint32_t>(detail & 0xff, MLRUN_HOST_PAGES_MAX);
  host.phase = detail >> 8 & 0xff;
  host.error = detail >> 16 & 0xff;
  host.of_target = (detail >> 24 & 1) != 0;
  host.source = w[5];
  host.bytes = w[6] >> 8;
  host.target = w[7];
  for (unsigned i = 0; i < std::size(host.nodes); ++i) {
    host.nodes[i] = static_cast<uint8_t>(i < 7 ? w[8] >> (8 + 8 * i) : w[9] >> 8 * (i - 7));
  }
  return true;
}

bool decode(const RecordView& record, GpuDeviceEvent& device) {
  if (record.units < 7) return false;
  const uint64_t* w = record.words;
  device.number = record.arg;
  device.multiprocessors = low(w[2] >> 8);
  device.capability = low(w[2] >> 40);
  device.memory_bytes = w[3];
  device.is_mig = (w[4] >> 8 & 1) != 0;
  device.uuid[0] = w[5];
  device.uuid[1] = w[7];
  device.name = w[9];
  device.mig_uuid[0] = w[11];
  device.mig_uuid[1] = w[13];
  return true;
}

bool decode(const RecordView& record, GpuNoteEvent& note) {
  if (record.units < 4) return false;
  const uint64_t* w = record.words;
  note.note = record.arg;
  note.clock = w[1];
  note.code = w[2] >> 8;
  note.count = w[3];
  note.first_ns = w[4] >> 8;
  note.last_ns = w[5];
  note.text = w[7];
  return true;
}

}  // namespace mlrun::decode
