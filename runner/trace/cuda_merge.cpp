// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/cuda_merge.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runner/trace/cuda_tracker.h"
#include "runner/trace/kernel_losses.h"
#include "runner/trace/thread_finder.h"
#include "runner/trace/trace_clock.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

int64_t time_of(uint64_t ns) { return TraceClock::from_monotonic(ns); }

bool is_context_switch(const std::string& function) {
  const auto* call = std::find_if(events::kCudaCalls.begin(), events::kCudaCalls.end(),
                                  [&](const events::CudaCall& candidate) { return candidate.name == function; });
  if (call == events::kCudaCalls.end()) return false;
  return call->role == events::CudaRole::kSetContext || call->role == events::CudaRole::kPushContext ||
         call->role == events::CudaRole::kPopContext;
}

}  // namespace

bool CudaMerge::present() const {
  const json streams = session_.all.value("/options/streams"_json_pointer, json::array());
  return std::find(streams.begin(), streams.end(), "cuda") != streams.end();
}

bool CudaMerge::has_report() const { return session_.all.contains("/kernel_side/cuda"_json_pointer); }

json CudaMerge::list(const char* name) const {
  json found = session_.all.value(json::json_pointer(std::string("/kernel_side/cuda/") + name), json::array());
  json objects = json::array();
  for (json& entry : found) {
    if (entry.is_object()) objects.push_back(std::move(entry));
  }
  return objects;
}

Status CudaMerge::run(KernelMerge& kernel, const model::TraceInfo& info,
                      const std::function<Status(const Partition&)>& take) {
  // Switches of contexts may have been let go, for all that a run without an end tells.
  int64_t contexts_until_ns = has_report() ? INT64_MAX : INT64_MIN;
  for (const json& gone : list("let_go")) {
    if (!is_context_switch(gone.value("function", ""))) continue;
    contexts_until_ns = std::min(contexts_until_ns, time_of(gone.value("at_ns", uint64_t{0})));
  }
  const ThreadFinder threads(info);
  CudaTracker tracker(contexts_until_ns);
  Partition partition;
  const auto hand_over = [&]() -> Status {
    sort(partition);
    Status taken = take(partition);
    partition.clear();
    return taken;
  };
  Status status = kernel.for_each_cuda_call([&](const mlrun_cuda_call& call) -> Status {
    const int64_t end_ns = time_of(call.head.time_ns), begin_ns = std::min(time_of(call.begin_ns), end_ns);
    const model::Origin origin = threads.find(begin_ns, call.head.pid, call.head.tid);
    if (!tracker.add(call, origin, partition.gpu)) ++unknown_;
    return partition.gpu.size() < kRowsAtOnce ? Status() : hand_over();
  });
  if (status && !partition.gpu.empty()) status = hand_over();
  left_out_ = tracker.left_out();
  unread_ = tracker.unread();
  return status;
}

void CudaMerge::sort(Partition& partition) {
  for (uint32_t i = 0; i < partition.gpu.size(); ++i) {
    const model::GpuWorkRow& row = partition.gpu[i];
    partition.order.push_back({row.origin.ts_ns + row.dur_ns, i, row_kind(row.kind)});
    ++partition.gpu_rows[static_cast<size_t>(row.kind)];
    ++rows_[static_cast<size_t>(row.kind)];
  }
  std::stable_sort(partition.order.begin(), partition.order.end(),
                   [](const RowRef& a, const RowRef& b) { return a.time_ns < b.time_ns; });
}

void CudaMerge::add_library_gaps(model::TraceInfo& info) const {
  std::set<int64_t> before, later;
  const auto add = [&](std::string subject, std::string detail, int64_t unseen = -1) {
    info.coverage.push_back({0, std::move(subject), std::move(detail), -1, unseen});
  };
  if (!has_report()) {
    add("calls of libcuda", "mlrun did not end by itself: which processes were probed, and from when on, is not known");
    return;
  }
  const json libraries = list("libraries");
  for (const json& library : libraries) {
    const int64_t pid = library.value("pid", int64_t{0});
    if (!library.value("was_probed", false)) (library.value("was_there", false) ? before : later).insert(pid);
    if (!library.contains("missing")) continue;
    add("calls of libcuda",
        fmt::format("process {}, {}: {}", pid, library.value("path", ""), library.value("missing", "")));
  }
  if (libraries.empty()) add("calls of libcuda", "no process that was observed had the library mapped");
  if (!before.empty()) {
    add("GPU memory from before",
        "of processes with libcuda when they were attached to: what they had then is not known", std::ssize(before));
  }
  if (!later.empty()) {
    add("first calls of libcuda",
        "in processes that loaded it later: those before its probes were there, mostly within a second",
        std::ssize(later));
  }
  const int64_t put_off = session_.number("/kernel_side/cuda/put_off", 0);
  if (put_off > 0) {
    add("first calls of libcuda", "processes had to wait until probes of others that have ended were gone, so often",
        put_off);
  }
}

void CudaMerge::add_gaps(model::TraceInfo& info) const {
  if (!present()) return;
  add_library_gaps(info);
  for (const json& gone : list("let_go")) {
    info.coverage.push_back({0, "calls of " + gone.value("function", ""),
                             fmt::format("let go when there were {} a second in all processes, which could slow them",
                                         gone.value("calls_per_second", int64_t{0})),
                             -1, -1});
  }
  info.coverage.push_back(
      {0, "CUDA by other ways",
       "kernels, copies, arrays, memory of the driver's own; calls through pointers of cuGetProcAddress "
       "that are not the library's exports",
       -1, -1});
  add_kernel_loss(info, kTooMany, left_out_, "GPU allocations, contexts and threads at once");
  add_kernel_loss(info, "memory of the process that could not be read", unread_, "GPU allocations");
  add_kernel_loss(info, "of a kind that this version does not know", unknown_, "calls of libcuda");
}

}  // namespace mlrun::trace
