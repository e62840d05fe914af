// SPDX-License-Identifier: Apache-2.0
// Gives every nanosecond of one call exactly one label, from intervals that say what was going on. The first that fits,
// in this order: ready to run; asleep by the kernel's wish, whatever is under way; asleep, with something on a device, in
// a queue, at a server, or nothing of these; inside a file operation of the kernel; else its own.
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
  // Forgets what was added.
  void begin(int64_t from_ns, int64_t to_ns);

  // Intervals may overlap, and reach beyond the call.
  void add(Span span, int64_t from_ns, int64_t to_ns);

  // Its sum is the call's duration.
  [[nodiscard]] model::CallSplit finish();

 private:
  struct Edge {
    int64_t ns;
    Span span;
    int8_t step;  // one more, or one less
  };
  using Open = std::array<int32_t, kSpans>;
  static int64_t& label(const Open& open, model::CallSplit& split);

  int64_t from_ns_ = 0, to_ns_ = 0;
  std::vector<Edge> edges_;
};

}  // namespace mlrun::trace
