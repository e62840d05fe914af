// SPDX-License-Identifier: Apache-2.0
// When each GPU had nothing to do between its first operation and its last: busy is the union of kernels, copies and
// memsets of all processes. Kernels of a communication library (NCCL) that run alone are not busy, but exposed
// communication. Memory: 8192 stretches of each GPU, and the gaps of kListedNs and more.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/model/gpu_rows.h"

namespace mlrun::idle {

inline constexpr int64_t kListedNs = 10'000;         // shorter gaps are only counted
inline constexpr size_t kGapsMax = size_t{1} << 21;  // beyond, likewise
inline constexpr size_t kTalksMax = size_t{1} << 21;

struct Stretch {
  int64_t start_ns = 0, end_ns = 0;
};

// A gap, and the operation that ends it.
struct Gap : Stretch {
  int32_t gpu_id = 0;
  int32_t thread_id = 0;  // whose call launched it; 0: not known
  int64_t launch_ns = 0;  // when that call began; 0: not known
  int64_t correlation = 0;
};

// What is not listed.
struct Unlisted {
  int64_t gaps = 0, time_ns = 0;
};

class GapFinder {
 public:
  // Rows of kernels, copies and memsets, in the order of their ends.
  void add(const model::GpuWorkRow& row);

  struct Found {
    std::vector<Gap> gaps;                                            // by start
    std::unordered_map<int32_t, std::vector<Stretch>> communication;  // by GPU, by start, apart from each other
    std::unordered_map<int32_t, Unlisted> unlisted;                   // by GPU
  };
  // To be called once.
  Found finish();

 private:
  struct Busy : Stretch {
    int32_t thread_id = 0;  // of its first operation
    int64_t launch_ns = 0;
    int64_t correlation = 0;
  };
  struct Device {
    std::vector<Busy> busy;
    int64_t settled_until_ns = INT64_MIN;
  };
  void settle(int32_t gpu_id, Device& device, size_t keep);
  void add_gap(int32_t gpu_id, int64_t start_ns, const Busy& next);
  void add_communication(int32_t gpu_id, Stretch talk);

  std::unordered_map<int32_t, Device> devices_;
  Found found_;
  size_t talks_ = 0;
};

}  // namespace mlrun::idle
