// SPDX-License-Identifier: Apache-2.0
// The table `sum` of a run with --summary-only: the collector's sums, and sums of the recorded rows, which are calls that
// create processes, and records that mlrun had not summed up when it was killed.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/merge/sums_file.h"
#include "runner/trace/rows/slice_rows.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

class SumTable {
 public:
  explicit SumTable(const StretchTimes& stretches) : stretches_(stretches) {}

  // Requires: slices in order of time.
  void add(const SliceRows& slice_rows);

  // All sums in order of process, file, function and time, with their sum_id.
  [[nodiscard]] std::vector<model::SumRow> finish(std::vector<model::SumRow> sums,
                                                  const std::vector<model::PhaseRow>& phases) const;

  // Rows about what the sums do not keep apart because of limits, and about bounds of phases that are not exact.
  static std::vector<model::CoverageRow> coverage(const std::vector<model::SumRow>& sums,
                                                  const mlrun_frame_sums_state& state);

 private:
  void add(const model::CallRow& row);
  void add(const model::AllocRow& row);
  model::SumRow& sum_of(uint64_t what, const model::Origin& origin, int64_t end_ns, int64_t site, int64_t file_id);
  [[nodiscard]] int32_t phase_of(int32_t stretch, const std::vector<model::PhaseRow>& phases) const;

  const StretchTimes& stretches_;
  std::vector<model::SumRow> rows_;
  util::FlatMap<uint32_t> by_key_;
};

}  // namespace mlrun::trace
