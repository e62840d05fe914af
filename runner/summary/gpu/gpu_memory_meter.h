// SPDX-License-Identifier: Apache-2.0
// Adds up CUDA allocations by process, GPU and kind of memory: the peak, and what was never released. Memory:
// kFollowedMax live allocations.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runner/model/gpu_rows.h"
#include "runner/model/trace_info.h"
#include "runner/summary/gpu_work.h"

namespace mlrun::summary {

class GpuMemoryMeter {
 public:
  // Rows of GpuKind::kMemory, in the order of their time.
  void add(const model::GpuWorkRow& row);

  // By process, GPU, context and kind of memory.
  [[nodiscard]] std::vector<GpuMemorySummary> finish(const model::TraceInfo& info) const;
  // Memory never released, by allocation stack: the first kTopGpuStacks by bytes; none if no stack is known. Requires:
  // the frames of info.stacks have their names.
  [[nodiscard]] std::vector<GpuStackSummary> stacks(const model::TraceInfo& info) const;

  static constexpr size_t kFollowedMax = size_t{1} << 20;

 private:
  struct Key {
    int32_t proc_id = 0, gpu_id = 0;
    uint32_t context = 0;
    size_t memory = 0;  // index in model::kGpuMemories
    auto operator<=>(const Key&) const = default;
  };
  struct Group {
    GpuMemorySummary sums;
    int64_t current_bytes = 0;
  };
  struct Block {
    Key key;
    int64_t bytes = 0, ts_ns = 0, end_ns = 0;
    bool has_replaced = false;  // it replaced an allocation at the same address whose release has not been seen
    Key replaced = {};
    int32_t stack_id = 0;
  };
  struct Place {
    int32_t proc_id = 0;
    uint64_t address = 0;
    bool is_handle = false;
    bool operator==(const Place&) const = default;
  };
  struct HashPlace {
    size_t operator()(const Place& place) const;
  };
  void allocate(const model::GpuWorkRow& row);
  void release(const model::GpuWorkRow& row);
  static Key key_of(const model::GpuWorkRow& row);
  [[nodiscard]] std::unordered_map<int32_t, int64_t> half_times(const model::TraceInfo& info) const;

  std::map<Key, Group> groups_;
  std::unordered_map<Place, Block, HashPlace> blocks_;  // allocated and not released
  std::unordered_map<int32_t, int64_t> first_ns_;       // by process: time of its first allocation
};

}  // namespace mlrun::summary
