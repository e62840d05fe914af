// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/gpu/gpu_work_meter.h"

#include <algorithm>
#include <cmath>

#include "runner/util/saturating.h"

namespace mlrun::summary {

namespace {

using model::GpuKind;
using model::GpuWorkRow;

template <typename Sums>
void count(const GpuWorkRow& row, Sums& sums, int64_t Sums::*number, int64_t Sums::*time_ns) {
  ++(sums.*number);
  util::add_to(sums.*time_ns, row.dur_ns);
}

void add_copy(const GpuWorkRow& row, GpuWorkSummary& sums) {
  count(row, sums, &GpuWorkSummary::copies, &GpuWorkSummary::copy_ns);
  util::add_to(model::is_from_host(row.detail) ? sums.bytes_in
               : model::is_to_host(row.detail) ? sums.bytes_out
                                               : sums.bytes_within,
               row.bytes);
}

}  // namespace

// If the start cuts a folded piece, assumes the part before it to be as busy as the whole piece.
void BusyTime::add(int64_t start_ns, int64_t end_ns) {
  if (end_ns <= start_ns) return;
  Piece joined{start_ns, end_ns, end_ns - start_ns};
  while (!pieces_.empty() && pieces_.back().end_ns >= start_ns) {
    const Piece& before = pieces_.back();
    if (before.start_ns < start_ns) {
      const auto share =
          static_cast<double>(start_ns - before.start_ns) / static_cast<double>(before.end_ns - before.start_ns);
      joined.busy_ns += std::llround(static_cast<double>(before.busy_ns) * share);
      joined.start_ns = before.start_ns;
    }
    if (before.end_ns > joined.end_ns) {
      joined.busy_ns += before.end_ns - joined.end_ns;
      joined.end_ns = before.end_ns;
    }
    pieces_.pop_back();
  }
  pieces_.push_back(joined);
  if (pieces_.size() >= pieces_most_) fold();
}

void BusyTime::fold() {
  const size_t half = pieces_.size() / 2;
  size_t to = 0;
  for (size_t from = 0; from + 1 < half; from += 2) {
    const Piece& first = pieces_[from];
    const Piece& second = pieces_[from + 1];
    pieces_[to++] = {first.start_ns, second.end_ns, first.busy_ns + second.busy_ns};
  }
  if (half % 2 != 0) pieces_[to++] = pieces_[half - 1];
  pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(to), pieces_.begin() + static_cast<std::ptrdiff_t>(half));
}

int64_t BusyTime::ns() const {
  int64_t sum = 0;
  for (const Piece& piece : pieces_) util::add_to(sum, piece.busy_ns);
  return sum;
}

void GpuWorkMeter::add(const GpuWorkRow& row) {
  const auto work = [&]() -> GpuWorkSummary& {
    Device& device = devices_[row.gpu_id];
    if (has_times(row)) device.busy.add(row.origin.ts_ns, row.origin.ts_ns + row.dur_ns);
    return device.sums;
  };
  switch (row.kind) {
    case GpuKind::kApi:
      count(row, calls_, &GpuCallSummary::calls, &GpuCallSummary::time_ns);
      calls_.errors += row.result != 0 ? 1 : 0;
      break;
    case GpuKind::kSync: count(row, calls_, &GpuCallSummary::syncs, &GpuCallSummary::sync_ns); break;
    case GpuKind::kMemory: break;  // GpuMemoryMeter's
    case GpuKind::kKernel: add_kernel(row, work()); break;
    case GpuKind::kMemcpy: add_copy(row, work()); break;
    case GpuKind::kMemset: count(row, work(), &GpuWorkSummary::memsets, &GpuWorkSummary::copy_ns); break;
    case GpuKind::kGraph: count(row, work(), &GpuWorkSummary::graphs, &GpuWorkSummary::graph_ns); break;
  }
}

void GpuWorkMeter::add_kernel(const GpuWorkRow& row, GpuWorkSummary& sums) {
  count(row, sums, &GpuWorkSummary::kernels, &GpuWorkSummary::kernel_ns);
  GpuKernelSummary& kernel = kernels_[row.name_id];
  count(row, kernel, &GpuKernelSummary::count, &GpuKernelSummary::time_ns);
  kernel.max_ns = std::max(kernel.max_ns, row.dur_ns);
}

std::vector<GpuWorkSummary> GpuWorkMeter::devices(const std::vector<model::GpuRow>& known) const {
  std::vector<GpuWorkSummary> out;
  for (const auto& [gpu_id, device] : devices_) {
    GpuWorkSummary& sums = out.emplace_back(device.sums);
    sums.gpu_id = gpu_id;
    sums.busy_ns = device.busy.ns();
    const auto row =
        std::find_if(known.begin(), known.end(), [id = gpu_id](const model::GpuRow& of) { return of.gpu_id == id; });
    sums.name = row == known.end() ? "unknown" : row->name;
    sums.uuid = row == known.end() ? "" : row->uuid;
  }
  if (out.size() > 1 && out.front().gpu_id == 0) std::rotate(out.begin(), out.begin() + 1, out.end());
  return out;
}

std::vector<GpuKernelSummary> GpuWorkMeter::kernels(const std::vector<model::NameRow>& names) const {
  std::vector<std::pair<int64_t, GpuKernelSummary>> sorted(kernels_.begin(), kernels_.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.time_ns != b.second.time_ns ? a.second.time_ns > b.second.time_ns : a.first < b.first;
  });
  if (sorted.size() > kTopKernels) sorted.resize(kTopKernels);
  std::unordered_map<int64_t, const std::string*> name_of;
  for (const model::NameRow& name : names) name_of[name.name_id] = &name.text;
  std::vector<GpuKernelSummary> out;
  for (auto& [name_id, kernel] : sorted) {
    const auto name = name_of.find(name_id);
    kernel.name = name == name_of.end() ? "unknown" : *name->second;
    out.push_back(std::move(kernel));
  }
  return out;
}

}  // namespace mlrun::summary
