// SPDX-License-Identifier: Apache-2.0
// Calls by file, and what was read more than once. The first kMaxFiles files have a place each (about 140 bytes); what
// is met later is summed up under file 0.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "runner/summary/byte_coverage.h"
#include "runner/summary/call_facts.h"
#include "runner/summary/flat_map.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

class FileMeter {
 public:
  static constexpr size_t kMaxFiles = size_t{1} << 20;

  struct File {
    int64_t file_id = 0;
    Totals totals;
    ByteCoverage read;
  };

  // A call of group files.
  void add(const model::CallRow& row, const CallFacts& facts);
  // Requires: all calls were added. The figures below are those of the last finish().
  void finish();

  [[nodiscard]] const std::deque<File>& files() const { return files_; }
  [[nodiscard]] bool full() const { return files_.size() == kMaxFiles; }
  // Calls on no known file, and on those that were met when it was full.
  [[nodiscard]] const Totals& without_place() const { return without_place_; }
  [[nodiscard]] Reread reread() const;

 private:
  static constexpr size_t kWaiting = 8;
  struct Call {
    File* file = nullptr;  // null: without a place
    CallFacts facts;
    int64_t dur_ns = 0;
  };

  File* place(int64_t file_id);
  void count_call(const Call& call);

  FlatMap<File*> places_;
  std::deque<File> files_;
  Totals without_place_;
  std::array<Call, kWaiting> waiting_;  // calls are counted kWaiting later, when their file has come to the cache
  size_t waiting_calls_ = 0;            // all so far; the last kWaiting of them wait
  size_t counted_calls_ = 0;
  CoverageBudget budget_;
  int64_t bytes_left_out_ = 0;
};

}  // namespace mlrun::summary
