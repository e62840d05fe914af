// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/cuda_memory.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "runner/decode/cuda_tracker.h"
#include "runner/events/cuda_calls.h"
#include "runner/monitor/aligned.h"
#include "runner/util/text.h"

namespace mlrun::monitor {

namespace {

size_t threads_of(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator threads(folder, error);
  return error ? 0 : static_cast<size_t>(std::distance(begin(threads), end(threads)));
}

// Shows 0 for a negative sum, which occurs only if a release was seen before its allocation.
std::string held(int64_t bytes) { return util::size_text(static_cast<uint64_t>(std::max<int64_t>(bytes, 0))); }

// "0" for one GPU; "0: 1.50 GiB, 1: 512 MiB" for several; "-": no memory held.
std::string gpus_of(const CudaUse& use) {
  std::vector<std::pair<std::string, int64_t>> held_on;
  for (const auto& [gpu, bytes] : use.by_gpu) {
    if (bytes > 0) held_on.emplace_back(gpu < 0 ? "?" : fmt::format("{}", gpu), bytes);
  }
  if (held_on.empty()) return "-";
  if (held_on.size() == 1) return held_on.front().first;
  std::string text;
  for (const auto& [gpu, bytes] : held_on) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", gpu, held(bytes));
  return text;
}

}  // namespace

CudaMemory::CudaMemory(std::string proc_folder)
    : tracker_(std::make_unique<decode::CudaTracker>(INT64_MAX)),
      names_({}, proc_folder),
      proc_(std::move(proc_folder)) {}

CudaMemory::~CudaMemory() = default;

uint64_t CudaMemory::lost() const { return lost_ + tracker_->left_out(); }

void CudaMemory::add(const decode::KernelReader& record) {
  newest_ns_ = std::max(newest_ns_, uint64_t{record.head().time_ns});
  record.visit(decode::Visitor{
      [&](const mlrun_cuda_call& call) { add_call(call); },
      [&](const mlrun_task& task) { add_task(task); },
      [&](const mlrun_kernel_loss& loss) {
        if (loss.of_kind == MLRUN_KERNEL_CUDA) lost_ += loss.count;
      },
  });
}

void CudaMemory::add_call(const mlrun_cuda_call& call) {
  const events::CudaCall* what = events::cuda_call_of(call.function);
  if (what == nullptr) return;
  model::Origin origin;
  origin.ts_ns = static_cast<int64_t>(std::min(call.begin_ns, call.head.time_ns));
  origin.pid = static_cast<int32_t>(call.head.pid);
  origin.tid = static_cast<int32_t>(call.head.tid);
  origin.proc_id = programs_[call.head.pid];
  std::vector<model::GpuWorkRow> rows;
  tracker_->add(call, origin, rows);
  CudaUse& use = uses_[call.head.pid];
  use.has_ended = false;
  if (call.result != 0 && events::allocates(what->role)) ++use.failed;
  for (const model::GpuWorkRow& row : rows) add_row(row, use);
}

void CudaMemory::add_row(const model::GpuWorkRow& row, CudaUse& use) const {
  if (row.kind != model::GpuKind::kMemory) return;
  const bool is_release = model::operation_of(row.detail) == model::GpuMemoryOperation::kRelease;
  ++(is_release ? use.releases : use.allocations);
  // Size 0: a release of an allocation from before the observation, whose size is unknown.
  if (is_release && row.bytes == 0) ++use.unmatched;
  const int64_t bytes = is_release ? -row.bytes : row.bytes;
  const size_t memory = model::memory_of(row.detail);
  if (memory == events::kCudaDevice) {
    use.device_bytes += bytes;
    const auto on = use.by_gpu.try_emplace(std::max(row.device, -1)).first;
    on->second += bytes;
    if (on->second == 0) use.by_gpu.erase(on);
  }
  if (memory == events::kCudaManaged) use.managed_bytes += bytes;
  if (memory == events::kCudaPinned) use.pinned_bytes += bytes;
}

// Forgets a process's memory at an exec and when its pid is reused, and notes the end of its first thread.
void CudaMemory::add_task(const mlrun_task& task) {
  const bool is_first_thread = task.head.pid == task.head.tid;
  const bool is_new = task.event == MLRUN_TASK_EXEC || (task.event == MLRUN_TASK_FORK && is_first_thread);
  if (const auto program = programs_.find(task.head.pid); is_new && program != programs_.end()) {
    tracker_->forget(program->second, static_cast<int32_t>(task.head.pid));
    ++program->second;
  }
  if (is_new) uses_.erase(task.head.pid);
  const auto use = uses_.find(task.head.pid);
  if (task.event == MLRUN_TASK_EXIT && is_first_thread && use != uses_.end()) use->second.has_ended = true;
}

// Forgets ended processes. One whose first thread has ended still lives while it has another thread.
void CudaMemory::forget_the_gone() {
  std::erase_if(uses_, [&](const auto& of) {
    const auto& [pid, use] = of;
    if (!use.has_ended || threads_of(fmt::format("{}/{}/task", proc_, pid)) > 1) return false;
    tracker_->forget(programs_[pid], static_cast<int32_t>(pid));
    programs_.erase(pid);
    return true;
  });
}

std::string CudaMemory::table(std::string_view heading) {
  forget_the_gone();
  std::vector<std::pair<uint32_t, CudaUse>> order(uses_.begin(), uses_.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.device_bytes + a.second.managed_bytes > b.second.device_bytes + b.second.managed_bytes;
  });
  std::vector<Cells> rows = {
      {"PID", "IN USE", "MANAGED", "PINNED", "ALLOCS", "FREES", "FAILED", "OF BEFORE", "USER", "COMMAND", "GPU"}};
  for (const auto& [pid, use] : order) {
    const ProcessName name = names_.of(pid);
    rows.push_back({fmt::format("{}", pid), held(use.device_bytes), held(use.managed_bytes), held(use.pinned_bytes),
                    fmt::format("{}", use.allocations), fmt::format("{}", use.releases), fmt::format("{}", use.failed),
                    fmt::format("{}", use.unmatched), name.user.empty() ? "-" : util::printable(name.user),
                    name.comm.empty() ? "-" : util::printable(name.comm), gpus_of(use)});
  }
  std::string text = fmt::format("{}\n", heading);
  text += order.empty() ? "no process with calls about GPU memory\n" : aligned(rows, 3);
  if (lost() != 0) text += fmt::format("{} calls were lost or not tracked, so these figures may be wrong\n", lost());
  return text;
}

}  // namespace mlrun::monitor
