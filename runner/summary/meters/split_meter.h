// SPDX-License-Identifier: Apache-2.0
// Splits of the time of calls on files, and of the kernel's operations on files outside of calls (all of them if there
// are no calls), added up for the run, each kind, process and file. The data comes from the kernel side: without it
// nothing is added.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/summary/summary.h"
#include "runner/util/flat_map.h"

namespace mlrun::summary {

class SplitMeter {
 public:
  static constexpr size_t kMaxFiles = size_t{1} << 18;  // files with their own sums; about 100 bytes each

  // A call of group files, or an operation, whose split is known. file_id 0: unknown file.
  void add(SplitKind kind, int32_t proc_id, int64_t file_id, int64_t time_ns, const model::CallSplit& split);

  // Order: the run, its kinds, the processes as in `processes`, the phases, then files by the time asleep in their calls and operations.
  // Empty: nothing was added.
  [[nodiscard]] std::vector<SplitSummary> finish(const std::vector<ProcessSummary>& processes,
                                                 const std::vector<SplitSummary>& phases,
                                                 const model::FileTable& files) const;

 private:
  struct Sums {
    int64_t calls = 0, time_ns = 0;
    model::CallSplit split;
  };
  static SplitSummary row(const char* scope, int64_t id, std::string name, const Sums& sums);
  [[nodiscard]] std::vector<SplitSummary> top_files(const model::FileTable& files) const;

  Sums run_;
  std::array<Sums, kSplitKinds> by_kind_;
  util::FlatMap<Sums> by_process_;  // by proc_id + 1
  util::FlatMap<Sums> by_file_;
};

}  // namespace mlrun::summary
