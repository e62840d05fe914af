// SPDX-License-Identifier: Apache-2.0
// Joins GPU work to the CUDA call that launched it, by correlation id within a process. Requires: rows in order of their
// end. A driver call nested in a runtime call makes no row: its work belongs to the runtime call. Memory is bounded:
// about the last million calls can be found.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/trace/gpu/host_buffers.h"
#include "runner/trace/index/gpu_facts.h"
#include "runner/trace/marks/mark_tracker.h"
#include "runner/trace/rows/slice_rows.h"

namespace mlrun::trace {

struct GpuTotals {
  std::array<int64_t, model::kGpuKinds> rows{};
  int64_t nested_calls = 0;  // driver calls without a row
  int64_t without_call = 0;  // GPU work whose call is unknown
  int64_t without_gpu = 0;   // GPU work whose GPU is unknown
  int64_t allocations = 0, with_stack = 0;
  int64_t managed_allocations = 0;
  int64_t names_cut = 0;                // kernel names that the recorder cut
  int64_t stacks_unread = 0;            // allocations with a known call, but without a readable stack
  int64_t later_calls_left_out = 0;     // SliceRows::later_calls beyond its limit
  int64_t folds = 0, folded_nodes = 0;  // graph launches with one row in all, and their nodes
  std::array<int64_t, 8> clocks{};      // by enum mlrun_gpu_clock

  [[nodiscard]] int64_t all_rows() const;
};

class GpuJoin {
 public:
  // Requires: threads and GPUs have their ids.
  GpuJoin(SpoolIndex& index, MarkNames& names, const std::vector<model::GpuRow>& gpus);

  // Sets the threads of CUDA calls, for which CUPTI reports the tid that the process itself sees. Call before apply().
  void name_threads(SliceRows& slice_rows);

  // Fills the columns of GPU work that come from its CUDA call, and removes nested calls from slice_rows.order. Requires:
  // slices in order of time.
  void apply(SliceRows& slice_rows);

  [[nodiscard]] const GpuTotals& totals() const { return totals_; }
  // GPU work without valid times: placed at the time of its delivery, or with duration 0.
  [[nodiscard]] std::vector<model::LossRow> losses() const;
  // Rows about GPU work of which something is unknown. `wanted`: GPU work was requested (--cupti); `stacks_wanted`:
  // stacks of allocations were requested.
  [[nodiscard]] std::vector<model::CoverageRow> coverage(bool wanted, bool stacks_wanted) const;

 private:
  struct Launch {
    int32_t proc_id = 0, thread_id = 0, tid = 0;
    uint32_t correlation = 0;
    int64_t ts_ns = 0;
    int64_t mark_id = 0;
    int32_t mark_path = 0;
    uint32_t host_call = 0;  // in HostBuffers; 0: none
  };
  [[nodiscard]] model::CoverageRow coverage_of_stacks() const;
  [[nodiscard]] std::optional<model::CoverageRow> driver_without_cupti() const;
  struct Thread {
    int32_t thread_id = 0, tid = 0;
  };
  void find_nested(const SliceRows& slice_rows);
  void leave_out_nested(SliceRows& slice_rows);
  void note_call(const model::GpuWorkRow& row);
  void join(model::GpuWorkRow& row);
  void join_caller(const SliceRows& slice_rows, model::GpuWorkRow& row);
  Launch& place_of(int32_t proc_id, uint32_t correlation);
  struct Kernel {
    int64_t name_id = 0;
    bool is_communication = false;
  };
  const Kernel& kernel_of(uint64_t name);
  std::string_view func_of(uint64_t name);
  void count(const model::GpuWorkRow& row);

  SpoolIndex& index_;
  MarkNames& names_;
  std::vector<Launch> launches_;                     // by correlation id; a later call replaces an old one
  std::unordered_map<uint64_t, Thread> threads_;     // by process and the tid that it sees
  std::unordered_map<uint64_t, Kernel> kernels_;     // by string id
  std::unordered_map<uint64_t, std::string> funcs_;  // by string id
  HostBuffers host_buffers_;
  std::vector<bool> nested_;
  std::unordered_multimap<uint64_t, uint32_t> callers_;  // of the slice, by process and address
  GpuTotals totals_;
};

}  // namespace mlrun::trace
