// SPDX-License-Identifier: Apache-2.0
// Decodes records of GPU work (record.h): CUDA calls, GPU activity, and the state of the recording. Part of the decoder
// in event_view.h.
#pragma once

#include <cstdint>

#include "runner/decode/event_view.h"

namespace mlrun::decode {

// A CUDA call, or GPU work that a call launched. Times are nanoseconds of CLOCK_MONOTONIC. Fields that the record's kind does not have are 0;
// comments name the kinds that have a field.
struct GpuWorkEvent {
  uint16_t kind = 0;  // MLRUN_GPU_API, ...
  uint64_t start_ns = 0, end_ns = 0;
  uint32_t correlation = 0, device = 0, clock = 0;  // clock: enum mlrun_gpu_clock
  uint32_t detail = 0;                              // record.h
  uint32_t context = 0, stream = 0, graph = 0;
  uint64_t graph_node = 0;
  uint64_t bytes = 0;                    // memcpy, memset, memory
  uint64_t name = 0;                     // api, kernel: string id
  uint32_t tid = 0, result = 0;          // api
  uint32_t grid[3] = {}, block[3] = {};  // kernel
  uint32_t static_shared = 0, dynamic_shared = 0, local_bytes = 0;
  bool between_devices = false;  // memcpy
  uint32_t source_device = 0, target_device = 0;
  uint32_t value = 0;    // memset
  uint32_t event = 0;    // sync
  uint64_t busy_ns = 0;  // graph
  // Kind memory (caller: only address); pool: the pool's address.
  uint64_t address = 0, pool = 0, pool_bytes = 0, pool_used = 0;
  uint64_t site = 0;   // memory: program counter; 0: not recorded
  uint64_t stack = 0;  // caller
};

// The host buffer of a copy (MLRUN_GPU_HOST).
struct GpuHostEvent {
  uint64_t start_ns = 0, end_ns = 0;  // of the call that copied
  uint64_t source = 0, target = 0, bytes = 0;
  // Asked: number of pages whose node was queried; phase: see host_pages.h; error: errno, 0: none.
  uint32_t asked = 0, phase = 0, error = 0;
  bool of_target = false;  // the pages are the destination's
  uint8_t nodes[15] = {};  // the nodes of these pages, or MLRUN_HOST_NO_NODE
};

struct GpuDeviceEvent {
  uint32_t number = 0, multiprocessors = 0, capability = 0;
  uint64_t memory_bytes = 0, name = 0;
  uint64_t uuid[2] = {}, mig_uuid[2] = {};
  bool is_mig = false;
};

struct GpuNoteEvent {
  uint32_t note = 0;  // enum mlrun_gpu_note
  uint64_t code = 0, count = 0, first_ns = 0, last_ns = 0, text = 0, clock = 0;
};

// False if the record is too short for its kind. Requires: the record's class matches the type of the second argument.
bool decode(const RecordView& record, GpuWorkEvent& work);
bool decode(const RecordView& record, GpuHostEvent& host);
bool decode(const RecordView& record, GpuDeviceEvent& device);
bool decode(const RecordView& record, GpuNoteEvent& note);

// The end of the GPU work in nanoseconds. Returns false if the record is too short.
inline bool gpu_end_ns(const RecordView& record, uint64_t& end_ns) {
  if (record.units < 4) return false;
  end_ns = record.words[3];
  return true;
}

}  // namespace mlrun::decode
