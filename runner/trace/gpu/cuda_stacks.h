// SPDX-License-Identifier: Apache-2.0
// Stacks of GPU memory allocations in observed processes: unwinds the kernel side's copies of thread stacks into stacks
// of the trace. The fragments of a copy precede the record of its libcuda call; the mappings of the process may be
// recorded before or after that record, so all mappings are added first.
//
//   for each record: add_mappings(...); then for each record in order: add_part(...), stack_of(call)
//
// Memory: the text of the mappings, a copy (32 KiB) per thread whose call has not been read yet, kWalkersMax walkers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runner/decode/kernel_view.h"
#include "runner/model/stack_table.h"
#include "runner/symbols/stack_walker.h"

namespace mlrun::trace {

class CudaStacks {
 public:
  // Fills `table`, which outlives it. `depth`: maximum frames of a stack.
  CudaStacks(model::StackTable& table, size_t depth);

  // Accepts any record; ignores all but mappings.
  void add_mappings(const decode::KernelReader& reader);

  void add_part(const mlrun_stack_part& part);

  // Id of the stack of a call, whose copy is discarded. 0: no copy was recorded, or the limit is reached.
  int32_t stack_of(const mlrun_cuda_call& call);

  // Number of stacks and mappings beyond the limits.
  [[nodiscard]] uint64_t left_out() const { return left_out_; }

 private:
  static constexpr size_t kWalkersMax = 32, kMappingsMax = size_t{1} << 22, kCopiesMax = 1 << 12;
  struct Snapshot {
    uint64_t time_ns = 0;
    std::vector<symbols::CodeMapping> mappings;
    std::unique_ptr<symbols::StackWalker> walker = {};
    std::map<size_t, uint32_t> files = {};  // by index of the walker's mappings: index + 1 in the table
  };
  struct Copy {
    uint64_t time_ns = 0;
    symbols::StackCopy stack;
  };
  using Thread = std::pair<uint32_t, uint32_t>;  // pid, tid

  Snapshot& snapshot_for(const mlrun_cuda_call& call, uint64_t address);
  symbols::StackWalker& walker_of(Snapshot& snapshot);
  int32_t frame_id(Snapshot& snapshot, const symbols::WalkedFrame& frame);
  uint32_t file_of(Snapshot& snapshot, size_t mapping);
  int32_t intern(Snapshot& snapshot, const symbols::WalkedStack& stack);

  model::StackTable& table_;
  size_t depth_;
  std::map<uint32_t, std::vector<Snapshot>> snapshots_;  // by pid, in order of time
  size_t mappings_ = 0, walkers_ = 0;
  std::map<Thread, Copy> copies_;
  Snapshot nothing_;
  std::map<std::pair<std::string, std::string>, uint32_t> files_;          // by path and build id
  std::map<std::pair<uint64_t, uint64_t>, int32_t> frame_ids_;             // by file and state, and offset
  std::map<std::pair<uint8_t, std::vector<int32_t>>, int32_t> stack_ids_;  // by end and frames
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::trace
