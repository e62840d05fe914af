// SPDX-License-Identifier: Apache-2.0
// GPU work by the name of the ranges that it was launched in: work counts once for each name around its launch, so that
// a step includes its parts. Memory: one entry per name of summary::MarkPaths, with kStretches stretches per GPU.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "runner/model/gpu_rows.h"
#include "runner/model/trace_info.h"
#include "runner/summary/gpu/gpu_work_meter.h"
#include "runner/summary/meters/mark_paths.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

class GpuMarkMeter {
 public:
  // Adds work on a device. Call it in the order in which the work ended.
  void add(const model::GpuWorkRow& row, const MarkPaths& paths);
  // Adds a gap that ended with work launched in this path.
  void add_idle(int32_t gpu_id, int32_t path, int64_t ns, const MarkPaths& paths);

  // The first kTopMarks by the time that the GPU was busy.
  [[nodiscard]] std::vector<GpuMarkSummary> finish(const MarkPaths& paths,
                                                   const std::vector<model::NameRow>& names) const;

 private:
  static constexpr size_t kStretches = 512;
  struct Sums {
    GpuMarkSummary sums;
    BusyTime busy{kStretches};
  };
  template <typename Each>
  void for_each_name(int32_t gpu_id, int32_t path, const MarkPaths& paths, Each each);

  std::map<std::pair<uint32_t, int32_t>, Sums> sums_;  // by name and GPU
};

}  // namespace mlrun::summary
