// SPDX-License-Identifier: Apache-2.0
// GPU work of observed processes: converts the kernel side's libcuda calls to rows of gpu_api, gpu_memory and gpu_sync.
// Memory: kRowsAtOnce rows, the state of CudaTracker, and with --stacks that of CudaStacks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "runner/events/record.h"
#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/trace/gpu/cuda_stacks.h"
#include "runner/trace/gpu/library_report.h"
#include "runner/trace/merge/kernel_merge.h"
#include "runner/trace/rows/slice_rows.h"

namespace mlrun::trace {

class CudaMerge {
 public:
  // Requires: session and `stacks` outlive it. Stacks of allocations are added to `stacks`; their frames are not symbolized.
  CudaMerge(const model::Run& session, model::StackTable& stacks)
      : library_(session, session.kernel_side.cuda, "cuda", "libcuda"),
        has_stacks_(present() && session.options.stack_depth > 0),
        stacks_(stacks,
                static_cast<size_t>(std::clamp<int64_t>(session.options.stack_depth, 0, MLRUN_STACK_DEPTH_MAX))) {}

  // Whether libcuda's calls were requested.
  [[nodiscard]] bool present() const { return library_.is_observed(); }

  // To be called with each record before run(): keeps the mappings of processes, for stacks.
  void add_mappings(const decode::KernelReader& reader) {
    if (has_stacks_) stacks_.add_mappings(reader);
  }

  // Passes the rows to `take` in batches, nearly in order of their end. Requires: KernelMerge::load() was called.
  Status run(KernelMerge& kernel, const model::TraceInfo& info, const std::function<Status(const SliceRows&)>& take);

  // Requires: run() was called.
  [[nodiscard]] const std::array<int64_t, model::kGpuKinds>& rows() const { return rows_; }
  void add_gaps(model::TraceInfo& info) const;

 private:
  static constexpr size_t kRowsAtOnce = 200'000;
  void sort(SliceRows& slice_rows);
  void note_stack(const mlrun_cuda_call& call, SliceRows& slice_rows, size_t first);

  LibraryReport library_;
  bool has_stacks_;
  CudaStacks stacks_;
  std::array<int64_t, model::kGpuKinds> rows_{};
  uint64_t left_out_ = 0, unread_ = 0, unknown_ = 0;
  int64_t allocations_ = 0, with_stack_ = 0;
};

}  // namespace mlrun::trace
