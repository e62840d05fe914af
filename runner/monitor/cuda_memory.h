// SPDX-License-Identifier: Apache-2.0
// GPU memory by process, from the libcuda calls that the kernel side sees: memory allocated since its probes were attached
// and not yet released. Releases are matched to allocations by the merger's own code (runner/decode/cuda_tracker.h), so the live
// view and the trace agree.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "runner/decode/kernel_view.h"
#include "runner/model/gpu_rows.h"
#include "runner/monitor/process_names.h"

namespace mlrun::decode {
class CudaTracker;
}

namespace mlrun::monitor {

struct CudaUse {
  int64_t device_bytes = 0, managed_bytes = 0, pinned_bytes = 0;  // allocated and not released
  // device_bytes by GPU, numbered as in the process (after CUDA_VISIBLE_DEVICES); -1: unknown.
  std::map<int32_t, int64_t> by_gpu;
  uint64_t allocations = 0, releases = 0;
  uint64_t failed = 0;     // allocations that the driver refused
  uint64_t unmatched = 0;  // releases of memory that was allocated before the observation, or was not tracked
  // The first thread has ended, and no other thread has made a call since. The process may still live.
  bool has_ended = false;
};

class CudaMemory {
 public:
  explicit CudaMemory(std::string proc_folder = "/proc");
  ~CudaMemory();
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  void add(const decode::KernelReader& record);

  // Memory by pid.
  [[nodiscard]] const std::map<uint32_t, CudaUse>& uses() const { return uses_; }
  // Number of dropped calls, and of allocations beyond the tracking limit, for all processes.
  [[nodiscard]] uint64_t lost() const;

  // The time of the newest record, CLOCK_MONOTONIC; 0: none.
  [[nodiscard]] uint64_t newest_ns() const { return newest_ns_; }

  // A line for each live process that has used GPU memory, largest first. Ends with a newline.
  [[nodiscard]] std::string table(std::string_view heading);

 private:
  void add_call(const mlrun_cuda_call& call);
  void add_task(const mlrun_task& task);
  void forget_the_gone();
  void add_row(const model::GpuWorkRow& row, CudaUse& use) const;

  std::unique_ptr<decode::CudaTracker> tracker_;
  ProcessNames names_;
  std::string proc_;
  std::map<uint32_t, CudaUse> uses_;
  std::map<uint32_t, int32_t> programs_;  // by pid: number of execs and pid reuses
  uint64_t lost_ = 0, newest_ns_ = 0;
};

}  // namespace mlrun::monitor
