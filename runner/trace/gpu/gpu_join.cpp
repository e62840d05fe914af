// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/gpu_join.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "runner/decode/limits.h"
#include "runner/events/session.h"
#include "runner/symbols/demangle.h"
#include "runner/util/scrambled.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using model::GpuKind;
using model::GpuWorkRow;

constexpr size_t kLaunchesKept = size_t{1} << 20;  // a power of two
constexpr size_t kNameBytesMax = 12288;            // of a kernel's name; the recorder cuts longer ones

uint64_t thread_key(int32_t proc_id, uint32_t tid) { return uint64_t(static_cast<uint32_t>(proc_id)) << 32 | tid; }

// Managed memory: its pages migrate between GPUs and processors.
bool is_managed(const GpuWorkRow& row) {
  const std::string_view memory = model::kGpuMemories.at(model::memory_of(row.detail));
  return memory.starts_with("managed");
}

bool is_gpu(RowKind kind) { return kind >= RowKind::kGpuApi; }

// Whether a demangled kernel name is NCCL's. The name of a template begins with its result type; NCCL 2.27 and later have
// Sym or Symk in the names.
bool is_nccl(std::string_view kernel) {
  constexpr std::string_view kResult = "void ";
  if (kernel.starts_with(kResult)) kernel.remove_prefix(kResult.size());
  return kernel.starts_with("ncclDevKernel") || kernel.starts_with("ncclKernel") ||
         kernel.starts_with("ncclSymDevKernel") || kernel.starts_with("ncclSymkDevKernel");
}

}  // namespace

int64_t GpuTotals::all_rows() const { return std::accumulate(rows.begin(), rows.end(), int64_t{0}); }

GpuJoin::GpuJoin(SpoolIndex& index, MarkNames& names, const std::vector<model::GpuRow>& gpus)
    : index_(index), names_(names), host_buffers_(gpus) {
  for (const Channel& channel : index.channels().all()) {
    if (channel.origin.thread_id == 0) continue;
    threads_[thread_key(channel.origin.proc_id, channel.about.tid)] = {channel.origin.thread_id, channel.origin.tid};
  }
}

void GpuJoin::name_threads(SliceRows& slice_rows) {
  const auto name = [&](GpuWorkRow& row) {
    if (row.kind != GpuKind::kApi) return;
    const auto known = threads_.find(thread_key(row.origin.proc_id, static_cast<uint32_t>(row.origin.tid)));
    if (known != threads_.end()) {
      row.origin.thread_id = known->second.thread_id;
      row.origin.tid = known->second.tid;
    }
    row.func = func_of(row.name);
  };
  std::for_each(slice_rows.gpu.begin(), slice_rows.gpu.end(), name);
  std::for_each(slice_rows.later_calls.begin(), slice_rows.later_calls.end(), name);
}

void GpuJoin::apply(SliceRows& slice_rows) {
  totals_.later_calls_left_out += static_cast<int64_t>(slice_rows.later_calls_left_out);
  if (slice_rows.gpu.empty()) return;
  if (launches_.empty()) launches_.resize(kLaunchesKept);
  find_nested(slice_rows);
  host_buffers_.take(slice_rows.gpu_hosts);
  for (const RowRef& ref : slice_rows.order) {
    if (ref.kind == RowKind::kGpuApi) note_call(slice_rows.gpu[ref.index]);
  }
  for (const GpuWorkRow& call : slice_rows.later_calls) note_call(call);
  callers_.clear();
  for (uint32_t i = 0; i < slice_rows.gpu_callers.size(); ++i) {
    const GpuCaller& caller = slice_rows.gpu_callers[i];
    callers_.emplace(util::scrambled(caller.address, static_cast<uint32_t>(caller.proc_id)), i);
  }
  for (const RowRef& ref : slice_rows.order) {
    if (!is_gpu(ref.kind) || ref.kind == RowKind::kGpuApi) continue;
    join(slice_rows.gpu[ref.index]);
    if (ref.kind == RowKind::kGpuMemory) join_caller(slice_rows, slice_rows.gpu[ref.index]);
  }
  leave_out_nested(slice_rows);
  for (const RowRef& ref : slice_rows.order) {
    if (is_gpu(ref.kind)) count(slice_rows.gpu[ref.index]);
  }
}

// Rows are in order of their ends, so a nested driver call precedes its runtime call, which may come in a later slice.
void GpuJoin::find_nested(const SliceRows& slice_rows) {
  nested_.assign(slice_rows.gpu.size(), false);
  std::unordered_map<uint64_t, std::vector<uint32_t>> driver_calls;  // by thread, since its last runtime call
  const auto inner_of = [&](const GpuWorkRow& row) -> std::vector<uint32_t>& {
    return driver_calls[thread_key(row.origin.proc_id, static_cast<uint32_t>(row.origin.tid))];
  };
  const auto end_call = [&](const GpuWorkRow& row) {
    std::vector<uint32_t>& inner = inner_of(row);
    for (const uint32_t index : inner) {
      if (slice_rows.gpu[index].origin.ts_ns >= row.origin.ts_ns) nested_[index] = true;
    }
    inner.clear();
  };
  for (const RowRef& ref : slice_rows.order) {
    if (ref.kind != RowKind::kGpuApi) continue;
    const GpuWorkRow& row = slice_rows.gpu[ref.index];
    if (row.runtime == 0) {
      inner_of(row).push_back(ref.index);
    } else {
      end_call(row);
    }
  }
  for (const GpuWorkRow& row : slice_rows.later_calls) {
    if (row.runtime != 0) end_call(row);
  }
}

void GpuJoin::leave_out_nested(SliceRows& slice_rows) {
  const auto is_nested = [&](const RowRef& ref) { return is_gpu(ref.kind) && nested_[ref.index]; };
  const auto end = std::remove_if(slice_rows.order.begin(), slice_rows.order.end(), is_nested);
  const auto left_out = static_cast<size_t>(slice_rows.order.end() - end);
  slice_rows.order.erase(end, slice_rows.order.end());
  slice_rows.gpu_rows[static_cast<size_t>(GpuKind::kApi)] -= left_out;
  totals_.nested_calls += static_cast<int64_t>(left_out);
}

GpuJoin::Launch& GpuJoin::place_of(int32_t proc_id, uint32_t correlation) {
  const uint64_t process = util::scrambled(static_cast<uint32_t>(proc_id));
  return launches_[(process + correlation) % kLaunchesKept];
}

void GpuJoin::note_call(const GpuWorkRow& row) {
  place_of(row.origin.proc_id, row.correlation) = {
      row.origin.proc_id, row.origin.thread_id,
      row.origin.tid,     row.correlation,
      row.origin.ts_ns,   row.mark_id,
      row.mark_path,      host_buffers_.find(row.origin.thread_id, row.origin.ts_ns)};
}

void GpuJoin::join(GpuWorkRow& row) {
  const Launch& launch = place_of(row.origin.proc_id, row.correlation);
  if (launch.proc_id == row.origin.proc_id && launch.correlation == row.correlation && row.correlation != 0) {
    row.origin.thread_id = launch.thread_id;
    row.origin.tid = launch.tid;
    row.launch_ns = launch.ts_ns;
    row.mark_id = launch.mark_id;
    row.mark_path = launch.mark_path;
    if (row.kind == GpuKind::kMemcpy) host_buffers_.fill(row, launch.host_call);
  } else {
    ++totals_.without_call;
  }
  if (row.kind != GpuKind::kKernel) return;
  const Kernel& kernel = kernel_of(row.name);
  row.name_id = kernel.name_id;
  row.is_communication = kernel.is_communication;
}

// Only one allocation at a time has an address, so the caller is the call on this address during which the row began.
void GpuJoin::join_caller(const SliceRows& slice_rows, GpuWorkRow& row) {
  if (model::operation_of(row.detail) != model::GpuMemoryOperation::kAllocation) return;
  ++totals_.allocations;
  if (is_managed(row)) ++totals_.managed_allocations;
  const int64_t at_ns = row.launch_ns != 0 ? row.launch_ns : row.origin.ts_ns;
  const auto [first, last] =
      callers_.equal_range(util::scrambled(row.address, static_cast<uint32_t>(row.origin.proc_id)));
  for (auto found = first; found != last; ++found) {
    const GpuCaller& caller = slice_rows.gpu_callers[found->second];
    const bool is_same = caller.proc_id == row.origin.proc_id && caller.address == row.address;
    if (!is_same || at_ns < caller.start_ns || at_ns > caller.end_ns) continue;
    if (caller.stack_id == 0) {
      ++totals_.stacks_unread;
      return;
    }
    row.stack_id = caller.stack_id;
    row.site = caller.site;
    row.site_library = caller.place.library;
    row.site_offset = caller.place.file_offset;
    ++totals_.with_stack;
    return;
  }
}

model::CoverageRow GpuJoin::coverage_of_stacks() const {
  std::string detail =
      "memory allocated without a call of a shared libcudart (by a program with a static libcudart, by libcudart "
      "itself, "
      "by the driver), or by a call whose record was lost";
  if (totals_.stacks_unread > 0) {
    detail += fmt::format(", and {} allocations by calls whose stack could not be read", totals_.stacks_unread);
  }
  return {.subject = "stacks of GPU allocations",
          .detail = detail + "; seen: allocations with a stack, kernel: all",
          .seen = totals_.with_stack,
          .kernel = totals_.allocations,
          .level = model::kRemark};
}

// CUPTI did not start although libcuda was mapped: the driver ignores the injection variable, or CUDA was not
// initialised.
std::optional<model::CoverageRow> GpuJoin::driver_without_cupti() const {
  if (!index_.gpu_facts().empty()) return std::nullopt;
  const std::vector<std::string>& libraries = index_.modules().libraries();
  const auto is_driver = [](const std::string& path) { return path.find("/libcuda.so") != std::string::npos; };
  const auto driver = std::find_if(libraries.begin(), libraries.end(), is_driver);
  if (driver == libraries.end()) return std::nullopt;
  return model::CoverageRow{
      .subject = "GPU work",
      .detail = fmt::format("{} was loaded, but did not load mlrun's CUPTI library: the program did not initialise "
                            "CUDA, or this driver ignores {}",
                            *driver, MLRUN_CUDA_INJECTION)};
}

std::vector<model::CoverageRow> GpuJoin::coverage(bool wanted, bool stacks_wanted) const {
  std::vector<model::CoverageRow> rows;
  if (auto without_cupti = wanted ? driver_without_cupti() : std::nullopt) rows.push_back(*std::move(without_cupti));
  if (wanted && stacks_wanted && totals_.with_stack != totals_.allocations) rows.push_back(coverage_of_stacks());
  if (totals_.without_gpu > 0) {
    rows.push_back(
        {.subject = "GPUs",
         .detail = fmt::format(
             "CUPTI did not report the GPU of {} operations: the idle time counts these as operations of one GPU",
             totals_.without_gpu),
         .level = model::kRemark});
  }
  if (totals_.managed_allocations > 0) {
    rows.push_back({.subject = "managed memory",
                    .detail = fmt::format(
                        "{} allocations can be used by both GPUs and CPUs: their page faults and migrations are not "
                        "recorded",
                        totals_.managed_allocations)});
  }
  if (totals_.names_cut > 0) {
    rows.push_back(
        {.subject = "names of kernels",
         .detail = fmt::format("{} are cut at {} bytes: kernels whose names differ only after that count as one",
                               totals_.names_cut, kNameBytesMax),
         .level = model::kRemark});
  }
  if (totals_.later_calls_left_out > 0) {
    rows.push_back(
        {.subject = "launches of GPU work",
         .detail = fmt::format("too many CUDA calls crossed a slice boundary; the GPU work of {} of them has no "
                               "launching call",
                               totals_.later_calls_left_out),
         .level = model::kRemark});
  }
  return rows;
}

const GpuJoin::Kernel& GpuJoin::kernel_of(uint64_t name) {
  const auto [known, is_new] = kernels_.emplace(name, Kernel{});
  if (is_new) {
    const std::string whole(index_.strings().text(name));
    const bool is_cut = whole.size() >= kNameBytesMax;  // a cut name may be valid, but that of another kernel
    if (is_cut) ++totals_.names_cut;
    const std::string text = is_cut ? whole : symbols::demangled(whole);
    if (!text.empty()) known->second.name_id = names_.id_of(util::escaped_utf8(text));
    known->second.is_communication = is_nccl(text);
  }
  return known->second;
}

std::string_view GpuJoin::func_of(uint64_t name) {
  const auto [known, is_new] = funcs_.emplace(name, std::string());
  if (is_new) known->second = util::escaped_utf8(index_.strings().text(name).substr(0, decode::kRepeatedBytesMax));
  return known->second;
}

std::vector<model::LossRow> GpuJoin::losses() const {
  static constexpr std::array<std::pair<mlrun_gpu_clock, const char*>, 3> kLost = {
      {{MLRUN_GPU_CLOCK_NONE, "CUPTI gave none"},
       {MLRUN_GPU_CLOCK_INVERTED, "the end before the start"},
       {MLRUN_GPU_CLOCK_OUTSIDE, "outside of the run"}}};
  std::vector<model::LossRow> rows;
  for (const auto& [clock, reason] : kLost) {
    if (totals_.clocks[clock] == 0) continue;
    model::LossRow& row = rows.emplace_back();
    row.channel = "cupti";
    row.reason = reason;
    row.count = totals_.clocks[clock];
    row.unit = "times";
  }
  return rows;
}

void GpuJoin::count(const GpuWorkRow& row) {
  ++totals_.rows[static_cast<size_t>(row.kind)];
  if (row.kind == GpuKind::kGraph && row.detail != 0) {
    ++totals_.folds;
    totals_.folded_nodes += row.detail;
  }
  if (model::is_on_device(row.kind) && row.gpu_id == 0) ++totals_.without_gpu;
  if (row.clock < totals_.clocks.size()) ++totals_.clocks[row.clock];
}

}  // namespace mlrun::trace
