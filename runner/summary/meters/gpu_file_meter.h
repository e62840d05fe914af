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

  // In the order of their numbers.
  [[nodiscard]] std::vector<GpuFileSummary> finish() const;

 private:
  std::map<uint16_t, GpuFileSummary> by_func_;
};

// What a call adds to the file's and the process's totals. `posix_is_counted`: its reads and writes below are calls that
// have been added themselves.
[[nodiscard]] Totals totals_of(const model::GpuFileRow& row, bool posix_is_counted);

}  // namespace mlrun::summary
