// SPDX-License-Identifier: Apache-2.0
// Joins GPU work to the call that launched it, by correlation id within a process, while rows pass by in the order of
// their end. A call of the driver that the runtime makes for a call of its own is no row: what it launched belongs to
// the outer one. Memory is bounded: of each process's calls about the last million can be found again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/trace/index/gpu_facts.h"
#include "runner/trace/marks/mark_tracker.h"
#include "runner/trace/rows/partition.h"

namespace mlrun::trace {

struct GpuTotals {
  std::array<int64_t, model::kGpuKinds> rows{};
  int64_t nested_calls = 0;  // of the driver, left out
  int64_t without_call = 0;  // work whose call is not known
  int64_t without_gpu = 0;   // likewise, its GPU
  int64_t allocations = 0, with_stack = 0;
  int64_t managed_allocations = 0;
  int64_t names_cut = 0;                // of kernels
  int64_t stacks_unread = 0;            // of allocations whose call is known
  int64_t later_calls_left_out = 0;     // see Partition
  int64_t folds = 0, folded_nodes = 0;  // launches of graphs that are made of their nodes
  std::array<int64_t, 8> clocks{};      // by enum mlrun_gpu_clock

  [[nodiscard]] int64_t all_rows() const;
};

class GpuJoin {
 public:
  // Requires: threads have their ids.
  GpuJoin(SpoolIndex& index, MarkNames& names);

  // Names the threads of calls, which CUPTI tells by their number in the process. Before apply().
  void name_threads(Partition& partition);

  // Fills what rows have from their call, and leaves nested calls out of partition.order. Requires: partitions come in
  // the order of time.
  void apply(Partition& partition);

  [[nodiscard]] const GpuTotals& totals() const { return totals_; }
  // Work whose times are not known: they stand where it was handed over, or have no length.
  [[nodiscard]] std::vector<model::LossRow> losses() const;
  // What is not known of the work. `wanted`: it was asked for (--cupti); `stacks_wanted`: those of allocations.
  [[nodiscard]] std::vector<model::CoverageRow> coverage(bool wanted, bool stacks_wanted) const;

 private:
  struct Launch {
    int32_t proc_id = 0, thread_id = 0, tid = 0;
    uint32_t correlation = 0;
    int64_t ts_ns = 0;
    int64_t mark_id = 0;
    int32_t mark_path = 0;
  };
  [[nodiscard]] model::CoverageRow coverage_of_stacks() const;
  [[nodiscard]] std::optional<model::CoverageRow> silent_driver() const;
  struct Thread {
    int32_t thread_id = 0, tid = 0;
  };
  void find_nested(const Partition& partition);
  void leave_out_nested(Partition& partition);
  void note_call(const model::GpuWorkRow& row);
  void join(model::GpuWorkRow& row);
  void join_caller(const Partition& partition, model::GpuWorkRow& row);
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
  std::vector<Launch> launches_;                     // by correlation id; a later call takes the place of an old one
  std::unordered_map<uint64_t, Thread> threads_;     // by process and thread number as the process sees it
  std::unordered_map<uint64_t, Kernel> kernels_;     // by string id
  std::unordered_map<uint64_t, std::string> funcs_;  // likewise
  std::vector<bool> nested_;
  std::unordered_multimap<uint64_t, uint32_t> callers_;  // of the partition, by process and address
  GpuTotals totals_;
};

}  // namespace mlrun::trace
