// SPDX-License-Identifier: Apache-2.0
// Calls by function and group: count, bytes, time, latency, errors, and requested sizes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runner/decode/func_names.h"
#include "runner/summary/meters/call_facts.h"
#include "runner/summary/summary.h"
#include "runner/util/flat_map.h"

namespace mlrun::summary {

class CallMeter {
 public:
  CallMeter();

  [[nodiscard]] mlrun_call_class call_class(uint16_t func) const { return classes_[decode::func_slot(func)]; }
  void add(const model::CallRow& row, const CallFacts& facts);
  // Adds a sum of calls. Its durations are as precise as its buckets; the shortest and the longest are exact.
  void add(const model::SumRow& sum, const CallFacts& facts);

  [[nodiscard]] std::vector<FuncSummary> funcs() const;    // by time
  [[nodiscard]] std::vector<ErrorSummary> errors() const;  // by calls
  [[nodiscard]] std::vector<SizeBucket> sizes() const;     // reads, then writes, by size; used ones only

 private:
  struct Func {
    int64_t errors = 0, bytes = 0, time_ns = 0;
    util::LogHistogram latency;  // includes the count
  };
  struct Size {
    int64_t calls = 0, bytes = 0;
  };

  static void add_durations(const model::SumRow& sum, util::LogHistogram& latency);

  std::array<mlrun_call_class, decode::kFuncs> classes_{};
  std::vector<std::array<Func, kGroups>> funcs_;
  std::array<std::array<Size, 65>, 2> sizes_{};  // by bit width
  util::FlatMap<int64_t> errors_;                // by func << 32 | errno
};

}  // namespace mlrun::summary
