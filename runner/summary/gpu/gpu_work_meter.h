// SPDX-License-Identifier: Apache-2.0
// Adds up GPU work: how long each device was busy, what was copied, which kernels took the time.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/model/gpu_rows.h"
#include "runner/model/trace_info.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

// The length of a union of intervals that arrive in the order of their end, with at most `pieces_most` pieces in
// memory. Beyond that the older half is folded, two pieces into one with their busy times added: only an interval that
// begins within a folded piece is inexact, by at most the gaps in it.
class BusyTime {
 public:
  explicit BusyTime(size_t pieces_most = 8192) : pieces_most_(pieces_most) {}
  void add(int64_t start_ns, int64_t end_ns);
  [[nodiscard]] int64_t ns() const;

 private:
  struct Piece {
    int64_t start_ns, end_ns, busy_ns;
  };
  void fold();

  size_t pieces_most_;
  std::vector<Piece> pieces_;  // disjoint, in order
};

class GpuWorkMeter {
 public:
  // Rows in the order of their end.
  void add(const model::GpuWorkRow& row);

  // Devices in the order of their ids; work of an unknown device last, with gpu_id 0.
  [[nodiscard]] std::vector<GpuWorkSummary> devices(const std::vector<model::GpuRow>& known) const;
  // The first kTopKernels by time.
  [[nodiscard]] std::vector<GpuKernelSummary> kernels(const std::vector<model::NameRow>& names) const;
  [[nodiscard]] GpuCallSummary calls() const { return calls_; }

 private:
  void add_kernel(const model::GpuWorkRow& row, GpuWorkSummary& sums);

  struct Device {
    GpuWorkSummary sums;
    BusyTime busy;
  };
  std::map<int32_t, Device> devices_;
  std::unordered_map<int64_t, GpuKernelSummary> kernels_;  // by name_id
  GpuCallSummary calls_;
};

}  // namespace mlrun::summary
