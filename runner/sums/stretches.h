// SPDX-License-Identifier: Apache-2.0
// Divides the run into stretches between bounds of MLLOG intervals, and adds up each process's calls on files in each
// stretch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner/events/sums.h"
#include "runner/util/flat_map.h"

namespace mlrun::sums {

// Calls on files of one process in one stretch.
struct StretchSum {
  uint64_t channel = 0;  // of the process
  uint32_t stretch = 0;
  uint64_t calls = 0, moved = 0, written = 0, ticks = 0;  // moved: bytes read
};

class Stretches {
 public:
  static constexpr size_t kBoundsMax = 3 * 4096;  // 4096 logged bounds: both ends of the millisecond, and the write
  static constexpr size_t kSumsMax = size_t{1} << 16;

  // Begins a stretch. A time before the last bound splits an earlier stretch; calls already added to it stay in its first
  // part.
  void begin(uint64_t monotonic_ns);

  // The number of the stretch that contains this time.
  [[nodiscard]] uint32_t at(uint64_t monotonic_ns) const;

  // Beyond kSumsMax the sums of all processes are combined.
  StretchSum& sum(uint32_t process, uint32_t stretch, uint64_t channel);

  [[nodiscard]] const std::vector<mlrun_stretch>& bounds() const { return bounds_; }
  [[nodiscard]] const std::vector<StretchSum>& sums() const { return sums_; }
  [[nodiscard]] uint64_t left_out() const { return left_out_; }  // bounds beyond kBoundsMax

 private:
  std::vector<mlrun_stretch> bounds_;
  std::vector<StretchSum> sums_;
  util::FlatMap<uint32_t> by_key_;
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::sums
