// SPDX-License-Identifier: Apache-2.0
// Mapped files: reads and writes through a mapping are not calls.
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

  // `hint`: what would record it. Requires: all rows were added; info.files is complete.
  void add_rows(const model::TraceInfo& info, const std::string& hint, std::vector<model::CoverageRow>& rows) const;

 private:
  std::map<int64_t, int64_t> mapped_;  // by file_id: bytes of its mappings
  int64_t mapped_left_out_ = 0;        // mappings of files beyond the limit
};

}  // namespace mlrun::trace
