// SPDX-License-Identifier: Apache-2.0
// Adds up the marks of programs by name and domain: so many of these, and from then on all others together.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

class MarkMeter {
 public:
  // Requires: row.name_id tells its name, or is 0 for those that have no number.
  void add(const model::MarkRow& row);

  // What the program recorded for all rows so far: two records for a range, one for a point or for a range that is open.
  [[nodiscard]] int64_t records() const { return records_; }

  // The first kTopMarks by time.
  [[nodiscard]] std::vector<MarkSummary> finish(const std::vector<model::NameRow>& names) const;

 private:
  MarkSummary& sums_of(const model::MarkRow& row);

  std::unordered_map<std::string, std::unordered_map<int64_t, MarkSummary>> by_domain_;
  size_t sums_ = 0;
  int64_t records_ = 0;
  MarkSummary rest_;
};

}  // namespace mlrun::summary
