// SPDX-License-Identifier: Apache-2.0
// Assigns every nanosecond of a call exactly one label, from overlapping intervals (waits, I/O, operations). The first
// match counts, in this order: runnable; throttled by the kernel, even with I/O in flight; asleep with I/O on a device,
// with I/O in a queue or while submitting it, with I/O at a server, or none of these; in a file operation; else `own`.
//
//   sweep.begin(from, to); sweep.add(Span::kAsleep, ...); ...; CallSplit split = sweep.finish();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner/model/call_split.h"

namespace mlrun::trace {

enum class Span : uint8_t {
  kReady,
  kAsleep,
  kSubmitting,
  kDevice,
  kSharedDevice,
  kQueue,
  kRemote,
  kThrottled,
  kOperation
};
inline constexpr size_t kSpans = 9;

class TimeSweep {
 public:
  // Starts a call. Discards the intervals of the call before.
  void begin(int64_t from_ns, int64_t to_ns);

  // Intervals may overlap and extend beyond the call.
  void add(Span span, int64_t from_ns, int64_t to_ns);

  // The labels' sum is the call's duration.
  [[nodiscard]] model::CallSplit finish();

 private:
  struct Edge {
    int64_t ns;
    Span span;
    int8_t step;  // +1 or -1
  };
  using Open = std::array<int32_t, kSpans>;
  static int64_t& label(const Open& open, model::CallSplit& split);

  int64_t from_ns_ = 0, to_ns_ = 0;
  std::vector<Edge> edges_;
};

}  // namespace mlrun::trace
