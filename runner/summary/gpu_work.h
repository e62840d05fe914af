// SPDX-License-Identifier: Apache-2.0
// GPU work in the summary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mlrun::summary {

inline constexpr size_t kTopKernels = 1000, kTopGpuStacks = 1000;

// What one device did.
struct GpuWorkSummary {
  int32_t gpu_id = 0;  // 0: not known which
  std::string name, uuid;
  int64_t busy_ns = 0;  // a kernel, a copy or a memset ran; of all processes together
  int64_t kernels = 0, kernel_ns = 0;
  int64_t copies = 0, bytes_in = 0, bytes_out = 0, bytes_within = 0;  // from the host, to it, else
  int64_t memsets = 0;
  int64_t copy_ns = 0;               // copies and memsets
  int64_t graphs = 0, graph_ns = 0;  // launches that are told as a whole
};

// Kernels of one name.
struct GpuKernelSummary {
  std::string name;
  int64_t count = 0, time_ns = 0, max_ns = 0;
};

// What one device did of what was launched in ranges of one name, or in ranges within these.
struct GpuMarkSummary {
  std::string domain, name;
  int32_t gpu_id = 0;                                   // 0: not known which
  int64_t kernels = 0, own_kernels = 0, kernel_ns = 0;  // own: in no range within these
  int64_t copies = 0, copied_bytes = 0, memsets = 0, graphs = 0;
  int64_t busy_ns = 0;  // some of it ran
  int64_t idle_ns = 0;  // the device had nothing to do, until some of it began: gaps that gpu_idle lists
};

// Calls of CUDA.
struct GpuCallSummary {
  int64_t calls = 0, errors = 0, time_ns = 0;
  int64_t syncs = 0, sync_ns = 0;  // waits for the GPU
};

// Calls of one function of libcufile, or operations of batches.
struct GpuFileSummary {
  std::string func;
  int64_t calls = 0, errors = 0;
  int64_t operations = 0;    // reads and writes: a batch has several, which its call counts
  int64_t bytes = 0;         // as far as the calls tell
  int64_t posix_bytes = -1;  // of them, by reads and writes of libcufile's own; -1: none were recorded
  int64_t time_ns = 0;
};

// What PyTorch's allocator of GPU memory gave to a process's tensors, on one device.
struct TorchMemorySummary {
  int32_t proc_id = 0, device = -1;  // device: PyTorch's index; -1: releases of what was not seen being allocated
  int64_t peak_bytes = 0;            // at once
  int64_t allocations = 0, allocated_bytes = 0, releases = 0;
  int64_t unmatched_releases = 0;    // of what was not seen being allocated
  int64_t unseen_releases = 0;       // the address was given out again, its release was not recorded
  int64_t kept = 0, kept_bytes = 0;  // at the end
  int64_t not_followed = 0;          // allocations beyond those that can be followed
};

// GPU memory that was never released, by who allocated it.
struct GpuStackSummary {
  int32_t proc_id = 0, gpu_id = 0;  // gpu_id 0: not known
  std::string memory;               // model::kGpuMemories
  int32_t stack_id = 0;             // 0: not known
  int64_t blocks = 0, bytes = 0;
  int64_t late = 0, late_bytes = 0;  // of these, allocated in the second half of the process
  std::string frames;                // innermost first, separated by " < "; empty: not known
};

// What a process asked CUDA to allocate, of one kind of memory, on one GPU; seen from outside: in one context.
struct GpuMemorySummary {
  int32_t proc_id = 0, gpu_id = 0;  // gpu_id 0: not known
  std::string memory;               // model::kGpuMemories
  int64_t peak_bytes = 0;           // at once
  int64_t allocations = 0, allocated_bytes = 0, releases = 0;
  int64_t unmatched_releases = 0;                    // of what was not seen being allocated
  int64_t unseen_releases = 0;                       // the address was allocated again, its release was not recorded
  int64_t kept = 0, kept_bytes = 0;                  // no release was recorded up to the end
  int64_t kept_late = 0, kept_late_bytes = 0;        // of these, allocated in the second half of the process
  int64_t not_followed = 0;                          // allocations beyond those that can be followed
  int64_t with_context = 0, with_context_bytes = 0;  // of the releases: as their context was destroyed
  int64_t at_exit = 0, at_exit_bytes = 0;            // of those kept: the process was seen to end
  int32_t context = 0;                               // 0: not known, or by CUPTI, of which all of a GPU counts together
};

}  // namespace mlrun::summary
