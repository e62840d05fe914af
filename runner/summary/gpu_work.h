// SPDX-License-Identifier: Apache-2.0
// GPU work in the summary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mlrun::summary {

inline constexpr size_t kTopKernels = 1000, kTopGpuStacks = 1000, kTopGpuHosts = 1000;

// Work of one device.
struct GpuWorkSummary {
  int32_t gpu_id = 0;  // 0: unknown
  std::string name, uuid;
  int64_t busy_ns = 0;  // a kernel, a copy or a memset ran; all processes together
  int64_t kernels = 0, kernel_ns = 0;
  int64_t copies = 0, bytes_in = 0, bytes_out = 0, bytes_within = 0;  // bytes from the host, to it, other
  int64_t memsets = 0;
  int64_t copy_ns = 0;               // time of copies and memsets
  int64_t graphs = 0, graph_ns = 0;  // launches of whole graphs, without rows of their kernels
};

// Kernels of one name.
struct GpuKernelSummary {
  std::string name;
  int64_t count = 0, time_ns = 0, max_ns = 0;
};

// Work of one device that was launched in ranges (marks) of one name, or in ranges nested in them.
struct GpuMarkSummary {
  std::string domain, name;
  int32_t gpu_id = 0;                                   // 0: unknown
  int64_t kernels = 0, own_kernels = 0, kernel_ns = 0;  // own: launched directly in the range, not in a nested one
  int64_t copies = 0, copied_bytes = 0, memsets = 0, graphs = 0;
  int64_t busy_ns = 0;  // some of the work ran
  int64_t idle_ns = 0;  // idle gaps (of table gpu_idle) that ended with such work
};

// Calls of the CUDA API.
struct GpuCallSummary {
  int64_t calls = 0, errors = 0, time_ns = 0;
  int64_t syncs = 0, sync_ns = 0;  // waits for the GPU
};

// Calls of one function of libcufile, or operations of batches.
struct GpuFileSummary {
  std::string func;
  int64_t calls = 0, errors = 0;
  int64_t operations = 0;    // reads and writes; a call for a batch has several
  int64_t bytes = 0;         // as reported by the calls
  int64_t posix_bytes = -1;  // part of `bytes` that libcufile moved by its own read and write calls; -1: not recorded
  int64_t time_ns = 0;
};

// GPU memory that PyTorch's allocator gave to a process's tensors, on one device.
struct TorchMemorySummary {
  int32_t proc_id = 0, device = -1;  // device: PyTorch's index; -1: releases of unseen allocations
  int64_t peak_bytes = 0;            // largest sum at one time
  int64_t allocations = 0, allocated_bytes = 0, releases = 0;
  int64_t unmatched_releases = 0;    // releases of allocations that were not recorded
  int64_t unseen_releases = 0;       // releases that were not recorded, seen because the address was allocated again
  int64_t kept = 0, kept_bytes = 0;  // not released at the end
  int64_t not_followed = 0;          // allocations beyond the tracking limit
};

// GPU memory that was never released, by allocation site.
struct GpuStackSummary {
  int32_t proc_id = 0, gpu_id = 0;  // gpu_id 0: unknown
  std::string memory;               // model::kGpuMemories
  int32_t stack_id = 0;             // 0: unknown
  int64_t blocks = 0, bytes = 0;
  int64_t late = 0, late_bytes = 0;  // part of these that was allocated in the second half of the process's life
  std::string frames;                // innermost first, separated by " < "; empty: unknown
};

// A process's CUDA allocations of one kind of memory on one GPU; with --kprobes=cuda in one context.
struct GpuMemorySummary {
  int32_t proc_id = 0, gpu_id = 0;  // gpu_id 0: unknown
  std::string memory;               // model::kGpuMemories
  int64_t peak_bytes = 0;           // largest sum at one time
  int64_t allocations = 0, allocated_bytes = 0, releases = 0;
  int64_t unmatched_releases = 0;    // releases of allocations that were not recorded
  int64_t unseen_releases = 0;       // releases that were not recorded, seen because the address was allocated again
  int64_t kept = 0, kept_bytes = 0;  // no release recorded up to the end
  // Part of these that was allocated in the second half of the process's life.
  int64_t kept_late = 0, kept_late_bytes = 0;
  int64_t not_followed = 0;                          // allocations beyond the tracking limit
  int64_t with_context = 0, with_context_bytes = 0;  // releases by destruction of their context
  int64_t at_exit = 0, at_exit_bytes = 0;            // kept at the recorded end of the process
  int32_t context = 0;                               // 0: unknown, or CUPTI, which combines all contexts of a GPU
};

// Copies between a GPU and host memory, by process, GPU and kind of memory. Copies of misplaced buffers have a row for
// each call site that allocated such buffers.
struct GpuHostSummary {
  int32_t proc_id = 0, gpu_id = 0;  // gpu_id 0: unknown
  int32_t gpu_node = -1;            // NUMA node next to the GPU; -1: unknown
  std::string memory;               // model::kGpuMemories
  int64_t copies = 0, bytes = 0, time_ns = 0;
  int64_t addressed_bytes = 0, known_bytes = 0;   // copied from or to a known address; in pages of a known NUMA node
  int64_t misplaced_bytes = 0, misplaced_ns = 0;  // on another node than the GPU's; time in proportion to these bytes
  int32_t error = 0;                              // errno of the query for pages whose node is unknown
  int32_t stack_id = 0;                           // stack of the allocation; 0: unknown
  std::string allocated_by;                       // functions, or library and offset; empty: unknown
};

}  // namespace mlrun::summary
