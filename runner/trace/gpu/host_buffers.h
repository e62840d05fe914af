// SPDX-License-Identifier: Apache-2.0
// The host buffers of copies: joins CUPTI's record of a copy with the call that our library recorded (same thread, around
// the CUDA call that CUPTI reports), and computes how many bytes of the buffer were on another NUMA node than the GPU.
// Memory: the last kCallsKept calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "runner/model/gpu_rows.h"
#include "runner/model/trace_info.h"
#include "runner/trace/rows/slice_rows.h"

namespace mlrun::trace {

class HostBuffers {
 public:
  explicit HostBuffers(const std::vector<model::GpuRow>& gpus);

  // Takes the recorded calls of a slice. Requires: slices in order of time, and called before the slice's GPU work.
  void take(const std::vector<GpuHostCall>& calls);
  // Number of the call that the thread was in at `ts_ns`; 0: none, or one without a host buffer.
  [[nodiscard]] uint32_t find(int32_t thread_id, int64_t ts_ns) const;
  // Fills the host buffer columns of a copy that was launched in the call with this number.
  void fill(model::GpuWorkRow& copy, uint32_t number) const;

 private:
  static constexpr size_t kCallsKept = size_t{1} << 18;
  [[nodiscard]] const GpuHostCall& call(uint32_t number) const { return calls_[number % kCallsKept]; }

  std::map<int32_t, int32_t> node_of_gpu_;  // by gpu_id
  std::vector<GpuHostCall> calls_;          // by number
  uint32_t last_number_ = 0;
  std::map<int32_t, std::map<int64_t, uint32_t>> recent_;  // numbers of the slice's calls, by thread and start
};

}  // namespace mlrun::trace
