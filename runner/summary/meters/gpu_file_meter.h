// SPDX-License-Identifier: Apache-2.0
// Adds up calls of libcufile by function.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runner/model/gpu_file.h"
#include "runner/summary/gpu_work.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

class GpuFileMeter {
 public:
  void add(const model::GpuFileRow& row);

  // In the order of the functions' numbers.
  [[nodiscard]] std::vector<GpuFileSummary> finish() const;

 private:
  std::map<uint16_t, GpuFileSummary> by_func_;
};

// A call's contribution to the totals of its file and process. `posix_is_counted`: its reads and writes below were
// added as calls of their own.
[[nodiscard]] Totals totals_of(const model::GpuFileRow& row, bool posix_is_counted);

}  // namespace mlrun::summary
