// SPDX-License-Identifier: Apache-2.0
// The host buffers of copies: joins the call that copied (by its thread, around the call of CUDA that CUPTI reports) with
// what CUPTI reports of the copy, and adds up how much of it lay on another node than the GPU's. Memory: the last
// kCallsKept calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "runner/model/gpu_rows.h"
#include "runner/model/trace_info.h"
#include "runner/trace/rows/partition.h"

namespace mlrun::trace {

class HostBuffers {
 public:
  explicit HostBuffers(const std::vector<model::GpuRow>& gpus);

  // The calls of a slice, before its work. Slices in order of time.
  void take(const std::vector<GpuHostCall>& calls);
  // Number of the call of this thread that was under way then; 0: none, or it had no host buffer.
  [[nodiscard]] uint32_t find(int32_t thread_id, int64_t ts_ns) const;
  // Fills the columns of a copy that was launched in that call.
  void fill(model::GpuWorkRow& copy, uint32_t number) const;

 private:
  static constexpr size_t kCallsKept = size_t{1} << 18;
  [[nodiscard]] const GpuHostCall& call(uint32_t number) const { return calls_[number % kCallsKept]; }

  std::map<int32_t, int32_t> node_of_gpu_;  // by gpu_id
  std::vector<GpuHostCall> calls_;          // by number
  uint32_t last_number_ = 0;
  std::map<int32_t, std::map<int64_t, uint32_t>> recent_;  // by thread and start: those of the slice
};

}  // namespace mlrun::trace
