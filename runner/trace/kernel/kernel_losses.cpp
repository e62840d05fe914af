// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/kernel_losses.h"

#include <algorithm>

#include <fmt/format.h>

#include "runner/trace/spool/trace_clock.h"
#include "runner/util/saturating.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

const char* reason_text(const mlrun_kernel_loss& loss) {
  const bool is_full = loss.reason == MLRUN_KERNEL_LOSS_MAP;
  if (is_full && loss.of_kind == MLRUN_KERNEL_SYSCALL) return "more processes than the kernel side tracks";
  if (is_full && loss.of_kind == MLRUN_KERNEL_FILE_NAME) return "deeper below the root than paths are followed";
  if (is_full && loss.of_kind == MLRUN_KERNEL_FILE_PATH) return "longer than the longest path that is recorded";
  switch (static_cast<mlrun_kernel_loss_reason>(loss.reason)) {
    case MLRUN_KERNEL_LOSS_RING: return "ring full";
    case MLRUN_KERNEL_LOSS_MAP: return "too much in flight at once";
    case MLRUN_KERNEL_LOSS_OPEN: return "its completion was not seen";
    case MLRUN_KERNEL_LOSS_WRITER: return "the process that dirtied their pages is unknown (at most this many)";
    case MLRUN_KERNEL_LOSS_PLACE: return "too many at once to follow to the devices below";
  }
  return "for a reason that only a later version of mlrun knows";
}

const char* kind_name(const mlrun_kernel_loss& loss) {
  if (loss.reason == MLRUN_KERNEL_LOSS_PLACE) return "bios of stacked devices";
  switch (static_cast<mlrun_kernel_kind>(loss.of_kind)) {
    case MLRUN_KERNEL_REQUEST: return "requests";
    case MLRUN_KERNEL_FRAGMENT: return "bio fragments";
    case MLRUN_KERNEL_WAIT: return "waits";
    case MLRUN_KERNEL_PAGES: return "page cache additions";
    case MLRUN_KERNEL_FILE_OP: return "file operations";
    case MLRUN_KERNEL_REMOTE: return "remote requests";
    case MLRUN_KERNEL_SYSCALL: return "system calls";
    case MLRUN_KERNEL_FILE_DONE: return "completions of file operations";
    case MLRUN_KERNEL_CUDA: return "calls of libcuda";
    case MLRUN_KERNEL_STACK: return "stacks of GPU allocations, or pages of them";
    case MLRUN_KERNEL_FILE_PATH: return "paths of files";
    case MLRUN_KERNEL_FILE_NAME: return "names of operations";
    case MLRUN_KERNEL_CUFILE: return "calls of libcufile";
    case MLRUN_KERNEL_CUFILE_PART: return "pieces of libcufile's batches";
    case MLRUN_KERNEL_TORCH: return "calls of PyTorch's allocator";
    case MLRUN_KERNEL_TASK:
    case MLRUN_KERNEL_PROCESS:
    case MLRUN_KERNEL_FILE_SEEN:
    case MLRUN_KERNEL_MAPPINGS:
    case MLRUN_KERNEL_MEMORY:
    case MLRUN_KERNEL_LOSS:
    case MLRUN_KERNEL_KINDS: break;
  }
  return "processes";
}

}  // namespace

void add_kernel_loss(model::TraceInfo& info, std::string reason, uint64_t count, const char* unit) {
  if (count == 0) return;
  model::LossRow row;
  row.channel = "kernel side";
  row.reason = std::move(reason);
  row.count = util::capped(count);
  row.unit = unit;
  info.losses.push_back(std::move(row));
}

void add_skipped_programs(model::TraceInfo& info, const model::KernelSide& kernel_side) {
  for (const auto& program : kernel_side.skipped) {
    const std::string name = util::escaped_utf8(program.program);
    if (name.empty()) continue;
    add_kernel_loss(
        info, fmt::format("the kernel skipped the BPF program {}, which was already running on that processor", name),
        static_cast<uint64_t>(std::max<int64_t>(program.times, 0)), "events of all processes");
  }
}

void KernelLosses::add(const mlrun_kernel_loss& loss) {
  model::LossRow row;
  row.channel = "kernel side";
  row.reason = reason_text(loss);
  row.first_ns = TraceClock::from_monotonic(loss.first_ns);
  row.last_ns = TraceClock::from_monotonic(loss.head.time_ns);
  row.count = util::capped(loss.count);
  row.unit = kind_name(loss);
  if (loss.reason != MLRUN_KERNEL_LOSS_OPEN) row.cpu = static_cast<int32_t>(loss.head.cpu);
  if (rows_.size() < most_) {
    rows_.push_back(std::move(row));
    return;
  }
  const auto [known, is_new] = shared_.try_emplace({row.reason, row.unit}, row);
  if (is_new) return;
  model::LossRow& shared = known->second;
  if (shared.cpu != row.cpu) shared.cpu = -1;
  shared.first_ns = std::min(shared.first_ns, row.first_ns);
  shared.last_ns = std::max(shared.last_ns, row.last_ns);
  shared.count = util::capped(static_cast<uint64_t>(shared.count) + static_cast<uint64_t>(row.count));
}

void KernelLosses::add_rows(model::TraceInfo& info) const {
  info.losses.insert(info.losses.end(), rows_.begin(), rows_.end());
  for (const auto& [about, row] : shared_) info.losses.push_back(row);
}

}  // namespace mlrun::trace
