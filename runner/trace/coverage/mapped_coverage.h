// SPDX-License-Identifier: Apache-2.0
// Files that are mapped: what is read and written in them has no calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/model/trace_info.h"

namespace mlrun::trace {

class MappedCoverage {
 public:
  void add(const model::CallRow& row);  // of mmap

  // `hint`: what would record it. Requires: all rows were added; info.files is complete.
  void add_rows(const model::TraceInfo& info, const std::string& hint, std::vector<model::CoverageRow>& rows) const;

 private:
  std::map<int64_t, int64_t> mapped_;  // file_id: bytes of its mappings
  int64_t mapped_left_out_ = 0;        // mappings of further files
};

}  // namespace mlrun::trace
