// SPDX-License-Identifier: Apache-2.0
// Rows of the gpu_* tables. Columns: runner/trace/TABLES.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runner/events/record.h"
#include "runner/model/rows.h"

namespace mlrun::model {

enum class GpuKind : uint8_t { kApi, kKernel, kMemcpy, kMemset, kSync, kMemory, kGraph };
inline constexpr size_t kGpuKinds = 7;

// Kinds of memory by CUPTI's numbers; unknown numbers map to the first name.
inline constexpr std::array<const char*, 8> kGpuMemories = {"unknown", "pageable", "pinned",        "device",
                                                            "array",   "managed",  "device static", "managed static"};
enum class GpuMemoryOperation : uint8_t { kUnknown, kAllocation, kRelease };

// Kind of memory of a row of GpuKind::kMemory, from its detail.
[[nodiscard]] inline size_t memory_of(uint32_t detail) {
  const size_t kind = detail >> 8 & 0xff;
  return kind < kGpuMemories.size() ? kind : 0;
}
[[nodiscard]] inline GpuMemoryOperation operation_of(uint32_t detail) {
  const uint32_t operation = detail & 0xff;
  return operation <= 2 ? static_cast<GpuMemoryOperation>(operation) : GpuMemoryOperation::kUnknown;
}

// Whether a copy reads or writes memory of the host, from its detail: CUPTI's kinds of copies, by source and target.
[[nodiscard]] inline bool is_from_host(uint32_t detail) { return (detail & 0xff) == 1 || (detail & 0xff) == 3; }
[[nodiscard]] inline bool is_to_host(uint32_t detail) { return (detail & 0xff) == 2 || (detail & 0xff) == 4; }

// Whether work of this kind keeps a device busy.
[[nodiscard]] inline bool is_on_device(GpuKind kind) {
  switch (kind) {
    case GpuKind::kKernel:
    case GpuKind::kMemcpy:
    case GpuKind::kMemset:
    case GpuKind::kGraph: return true;
    case GpuKind::kApi:
    case GpuKind::kSync:
    case GpuKind::kMemory: return false;
  }
  return false;
}

// The host memory that a copy reads or writes.
struct HostBuffer {
  uint64_t address = 0;          // 0: unknown, or the copy has none
  int64_t call_ns = 0;           // end of the call that copied
  int32_t node = -1;             // NUMA node of 95 % of its queried pages; -1: unknown, or no node has so many
  int32_t gpu_node = -1;         // NUMA node of the GPU; -1: unknown
  int64_t known_bytes = 0;       // bytes of the copy in pages whose node is known
  int64_t misplaced_bytes = -1;  // part of these on another node than the GPU's; -1: one of the nodes is unknown
  uint32_t error = 0;            // errno of the query for pages without a node
};

// A CUDA call, or GPU work that a call launched. Work has the thread_id and tid of its call; 0: unknown. Comments on fields name the kinds of rows
// that have them.
struct GpuWorkRow {
  Origin origin;
  int64_t dur_ns = 0;
  GpuKind kind = GpuKind::kApi;
  uint8_t clock = 0;    // enum mlrun_gpu_clock
  uint8_t runtime = 0;  // api: a call of the runtime API, not of the driver API
  uint32_t correlation = 0;
  int32_t gpu_id = 0;  // 0: unknown, or none
  uint32_t context = 0, stream = 0, graph = 0;
  uint64_t graph_node = 0;
  int64_t bytes = 0;      // memcpy, memset, memory
  uint64_t name = 0;      // api, kernel: string id
  int64_t name_id = 0;    // kernel
  std::string_view func;  // api
  uint32_t detail = 0;    // record.h; graph: number of its nodes, 0: unknown
  uint32_t result = 0;    // api
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t static_shared = 0, dynamic_shared = 0, local_bytes = 0;
  int32_t source_gpu_id = 0, target_gpu_id = 0;  // memcpy between devices
  HostBuffer host;                               // memcpy
  uint32_t value = 0;                            // memset
  uint32_t event = 0;                            // sync
  int64_t busy_ns = 0;                           // graph, with nodes
  uint64_t address = 0, pool = 0;                // memory; pool: its address, 0: none
  int64_t pool_bytes = 0, pool_used = 0;
  int32_t device = -1;            // uprobe records: device number within the process; -1: unknown
  bool is_of_uprobe = false;      // observed by a uprobe, not reported by CUPTI
  bool is_handle = false;         // memory: the address is a handle
  bool is_with_context = false;   // memory: freed because its context was destroyed
  int64_t launch_ns = 0;          // work on a device: start of the call that launched it; 0: unknown
  bool is_communication = false;  // kernel of a communication library
  int64_t mark_id = 0;            // the range (mark) in which its call was made; 0: none or unknown
  int32_t mark_path = 0;          // path of that range in summary::MarkPaths, which has the enclosing ranges; 0: none
  int32_t stack_id = 0;           // memory: stack of the allocation; 0: unknown
  uint64_t site = 0;              // memory: return address of the allocation; 0: unknown
  int64_t site_library = 0, site_offset = 0;  // as in AllocRow
};

// Whether a row of work has its times.
[[nodiscard]] inline bool has_times(const GpuWorkRow& row) {
  return row.clock != MLRUN_GPU_CLOCK_NONE && row.clock != MLRUN_GPU_CLOCK_OUTSIDE;
}

}  // namespace mlrun::model
