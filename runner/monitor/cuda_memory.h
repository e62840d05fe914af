// SPDX-License-Identifier: Apache-2.0
// GPU memory by process, from the calls of libcuda that the kernel side sees: what was asked for since it attached and is
// not released. Which release belongs to which allocation is the merger's own knowledge (runner/decode/cuda_tracker.h), so
// that the live view and the trace tell the same.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "runner/decode/kernel_view.h"
#include "runner/model/gpu_rows.h"
#include "runner/monitor/process_names.h"

namespace mlrun::trace {
class CudaTracker;
}

namespace mlrun::monitor {

struct CudaUse {
  int64_t device_bytes = 0, managed_bytes = 0, pinned_bytes = 0;  // held now
  // What of device_bytes is where: by GPU, as the process counts them (behind CUDA_VISIBLE_DEVICES); -1: not known.
  std::map<int32_t, int64_t> by_gpu;
  uint64_t allocations = 0, releases = 0;
  uint64_t failed = 0;     // allocations that the driver refused
  uint64_t unmatched = 0;  // releases of what was there before, or is not followed
  // Its first thread has ended, and no call of another one came since: a process may live on without it.
  bool has_ended = false;
};

class CudaMemory {
 public:
  explicit CudaMemory(std::string proc_folder = "/proc");
  ~CudaMemory();
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  void add(const events::KernelReader& record);

  // By pid.
  [[nodiscard]] const std::map<uint32_t, CudaUse>& uses() const { return uses_; }
  // Calls that were not told, and what was more than is followed, of any process.
  [[nodiscard]] uint64_t lost() const;

  // The time of the newest record, CLOCK_MONOTONIC; 0: there is none.
  [[nodiscard]] uint64_t newest_ns() const { return newest_ns_; }

  // A line for each process that has used GPU memory and has not ended, who holds most first. Ends with a newline.
  [[nodiscard]] std::string table(std::string_view heading);

 private:
  void add_call(const mlrun_cuda_call& call);
  void add_task(const mlrun_task& task);
  void forget_the_gone();
  void add_row(const model::GpuWorkRow& row, CudaUse& use) const;

  std::unique_ptr<trace::CudaTracker> tracker_;
  ProcessNames names_;
  std::string proc_;
  std::map<uint32_t, CudaUse> uses_;
  std::map<uint32_t, int32_t> programs_;  // by pid: how often it was another program, or another process
  uint64_t lost_ = 0, newest_ns_ = 0;
};

}  // namespace mlrun::monitor
