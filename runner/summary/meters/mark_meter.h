// SPDX-License-Identifier: Apache-2.0
// Adds up programs' marks by name and domain, up to a limit; further ones together.
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
  // Requires: row.name_id is its name's id, or 0 if the name has none.
  void add(const model::MarkRow& row);

  // Number of records that the program made for all rows so far: two for a range, one for a point or an open range.
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
