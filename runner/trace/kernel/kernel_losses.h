// SPDX-License-Identifier: Apache-2.0
// Rows of the table loss for the kernel side: what it did not record, and records that the merger discarded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/decode/limits.h"
#include "runner/events/kernel_record.h"
#include "runner/model/run.h"
#include "runner/model/trace_info.h"

namespace mlrun::trace {

// Adds a row without times, for what the merger discarded or the kernel side did not record; none if `count` is 0.
// kTooMany: the reason for items beyond a limit of limits.h.
inline constexpr const char* kTooMany = "more than the merger takes in";
void add_kernel_loss(model::TraceInfo& info, std::string reason, uint64_t count, const char* unit);
// Adds rows for events at which the kernel did not run the BPF program, as reported by mlrun-probes.
void add_skipped_programs(model::TraceInfo& info, const model::KernelSide& kernel_side);

// Makes rows from the loss records of the kernel side. Beyond the limit of separate rows, records of one kind and reason
// share a row for all processors.
class KernelLosses {
 public:
  explicit KernelLosses(size_t most = decode::kKernelLossesMax) : most_(most) {}
  void add(const mlrun_kernel_loss& loss);
  void add_rows(model::TraceInfo& info) const;

 private:
  size_t most_;
  std::vector<model::LossRow> rows_;
  std::map<std::pair<std::string, std::string>, model::LossRow> shared_;  // by reason and unit
};

}  // namespace mlrun::trace
