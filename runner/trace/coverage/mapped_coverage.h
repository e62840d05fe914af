// SPDX-License-Identifier: Apache-2.0
// Coverage row about mapped files: reads and writes through a mapping are not calls, so they have no rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/model/trace_info.h"

namespace mlrun::trace {

class MappedCoverage {
 public:
  void add(const model::CallRow& row);  // rows of mmap

  // `hint`: kernel_side_hint(). Requires: all rows were added; info.files is complete.
  void add_rows(const model::TraceInfo& info, const std::string& hint, std::vector<model::CoverageRow>& rows) const;

 private:
  std::map<int64_t, int64_t> mapped_;  // bytes of a file's mappings, by file_id
  int64_t mapped_left_out_ = 0;        // mappings of files beyond the limit
};

}  // namespace mlrun::trace
