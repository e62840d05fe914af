// SPDX-License-Identifier: Apache-2.0
// GPU work of processes that were not started here: the kernel side's calls of libcuda become rows of gpu_api, gpu_memory
// and gpu_sync. Memory: kRowsAtOnce rows, and what CudaTracker keeps.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "runner/model/trace_info.h"
#include "runner/trace/kernel_merge.h"
#include "runner/trace/library_report.h"
#include "runner/trace/partition.h"
#include "runner/trace/session_info.h"

namespace mlrun::trace {

class CudaMerge {
 public:
  // Requires: session outlives it.
  explicit CudaMerge(const SessionInfo& session) : library_(session, "cuda", "libcuda") {}

  // They were asked for.
  [[nodiscard]] bool present() const { return library_.is_followed(); }

  // Hands over the rows, some at a time, nearly in the order of their end. Requires: the kernel side is loaded.
  Status run(KernelMerge& kernel, const model::TraceInfo& info, const std::function<Status(const Partition&)>& take);

  // After run().
  [[nodiscard]] const std::array<int64_t, model::kGpuKinds>& rows() const { return rows_; }
  void add_gaps(model::TraceInfo& info) const;

 private:
  static constexpr size_t kRowsAtOnce = 200'000;
  void sort(Partition& partition);
  void name_devices(const model::TraceInfo& info, Partition& partition) const;

  LibraryReport library_;
  std::array<int64_t, model::kGpuKinds> rows_{};
  uint64_t left_out_ = 0, unread_ = 0, unknown_ = 0;
};

}  // namespace mlrun::trace
