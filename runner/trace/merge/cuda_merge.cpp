// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/cuda_merge.h"

#include <algorithm>
#include <string>

#include "runner/decode/cuda_tracker.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/kernel/kernel_losses.h"
#include "runner/trace/kernel/kernel_moments.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

namespace {

bool is_context_switch(const std::string& function) {
  const auto* call = std::find_if(events::kCudaCalls.begin(), events::kCudaCalls.end(),
                                  [&](const events::CudaCall& candidate) { return candidate.name == function; });
  if (call == events::kCudaCalls.end()) return false;
  return call->role == events::CudaRole::kSetContext || call->role == events::CudaRole::kPushContext ||
         call->role == events::CudaRole::kPopContext;
}

}  // namespace

Status CudaMerge::run(KernelMerge& kernel, const model::TraceInfo& info,
                      const std::function<Status(const SliceRows&)>& take) {
  // Without a normal end of the run, it is unknown when the probes of context switches were detached.
  int64_t contexts_until_ns = library_.is_there() ? INT64_MAX : INT64_MIN;
  if (const auto& report = library_.report()) {
    for (const auto& gone : report->detached) {
      if (!is_context_switch(gone.function)) continue;
      contexts_until_ns = std::min(contexts_until_ns, time_of(static_cast<uint64_t>(gone.at_ns)));
    }
  }
  const ThreadFinder threads(info);
  decode::CudaTracker tracker(contexts_until_ns);
  SliceRows slice_rows;
  const auto hand_over = [&]() -> Status {
    sort(slice_rows);
    Status taken = take(slice_rows);
    slice_rows.clear();
    return taken;
  };
  Status status = kernel.for_each([&](const decode::KernelReader& reader) -> Status {
    Status handed_over;
    reader.visit(decode::Visitor{
        [&](const mlrun_stack_part& part) {
          if (has_stacks_) stacks_.add_part(part);
        },
        [&](const mlrun_cuda_call& call) {
          const int64_t end_ns = time_of(call.head.time_ns), begin_ns = std::min(time_of(call.begin_ns), end_ns);
          const model::Origin origin = threads.find(begin_ns, call.head.pid, call.head.tid);
          const size_t first = slice_rows.gpu.size();
          if (!tracker.add(call, origin, slice_rows.gpu)) ++unknown_;
          if (has_stacks_) note_stack(call, slice_rows, first);
          if (slice_rows.gpu.size() >= kRowsAtOnce) handed_over = hand_over();
        },
    });
    return handed_over;
  });
  if (status && !slice_rows.gpu.empty()) status = hand_over();
  left_out_ = tracker.left_out();
  unread_ = tracker.unread();
  return status;
}

// Sets the stack of the call's rows, which are those from `first` on.
void CudaMerge::note_stack(const mlrun_cuda_call& call, SliceRows& slice_rows, size_t first) {
  for (size_t i = first; i < slice_rows.gpu.size(); ++i) {
    model::GpuWorkRow& row = slice_rows.gpu[i];
    const bool is_memory = row.kind == model::GpuKind::kMemory;
    if (!is_memory || model::operation_of(row.detail) != model::GpuMemoryOperation::kAllocation) continue;
    row.stack_id = stacks_.stack_of(call);
    ++allocations_;
    with_stack_ += row.stack_id != 0 ? 1 : 0;
  }
}

void CudaMerge::sort(SliceRows& slice_rows) {
  for (uint32_t i = 0; i < slice_rows.gpu.size(); ++i) {
    const model::GpuWorkRow& row = slice_rows.gpu[i];
    slice_rows.order.push_back({row.origin.ts_ns + row.dur_ns, i, row_kind(row.kind)});
    ++slice_rows.gpu_rows[static_cast<size_t>(row.kind)];
    ++rows_[static_cast<size_t>(row.kind)];
  }
  std::stable_sort(slice_rows.order.begin(), slice_rows.order.end(),
                   [](const RowRef& a, const RowRef& b) { return a.time_ns < b.time_ns; });
}

void CudaMerge::add_gaps(model::TraceInfo& info) const {
  if (!present()) return;
  library_.add_gaps(info, "GPU memory allocated before the probes were attached",
                    "the memory that they already held is unknown");
  info.coverage.push_back(
      {0, "CUDA work that the probes of libcuda do not cover",
       "kernels, copies, arrays and the driver's own memory; calls through pointers of cuGetProcAddress to functions "
       "that libcuda does not export",
       -1, -1});
  if (with_stack_ < allocations_) {
    info.coverage.push_back({0, "stacks of GPU allocations",
                             "the copies of the threads' stacks were lost or could not be read; seen: allocations with "
                             "a stack, kernel: all",
                             with_stack_, allocations_});
  }
  add_kernel_loss(info, kTooMany, stacks_.left_out(), "stacks of GPU allocations");
  add_kernel_loss(info, kTooMany, left_out_, "GPU allocations, contexts and threads at once");
  add_kernel_loss(info, "the memory of the process could not be read", unread_, "GPU allocations");
  add_kernel_loss(info, "of a kind that this version does not know", unknown_, "calls of libcuda");
}

}  // namespace mlrun::trace
