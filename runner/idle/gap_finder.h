// SPDX-License-Identifier: Apache-2.0
// Finds the gaps of each GPU: the times without a kernel, copy or memset of any process, between the GPU's first operation
// and its last. Kernels of a communication library (NCCL) do not end a gap; when they run alone, they are exposed
// communication. Memory: 8192 stretches per GPU, and the gaps of kListedNs and more, up to kGapsMax.
//
// Rows arrive in order of their ends, so an operation may arrive after others that began later:
//
//   copies     --  --  --  --  --      first; the time between them is idle so far
//   kernel       ------------------    its row comes later and takes back the gaps after its start
//
// Shorter gaps can be taken back as long as there are at most kShortMax of them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/model/gpu_rows.h"

namespace mlrun::idle {

inline constexpr int64_t kListedNs = 10'000;  // shorter gaps are only counted
inline constexpr size_t kGapsMax = size_t{1} << 21, kTalksMax = size_t{1} << 21, kShortMax = size_t{1} << 21;

struct Stretch {
  int64_t start_ns = 0, end_ns = 0;
};

// A gap and the operation that ends it.
struct Gap : Stretch {
  int32_t gpu_id = 0;
  int32_t thread_id = 0;  // of the CUDA call that launched the operation; 0: unknown
  int64_t launch_ns = 0;  // start of that call; 0: unknown
  int64_t correlation = 0;
  int64_t mark_id = 0;    // the range (mark) that the call was in; 0: none
  int32_t mark_path = 0;  // in summary::MarkPaths
};

// Gaps that are counted but not listed.
struct Unlisted {
  int64_t gaps = 0, time_ns = 0;
  int64_t from_ns = INT64_MAX, until_ns = INT64_MIN;
};

class GapFinder {
 public:
  // Requires: rows of kernels, copies and memsets, in order of their ends.
  void add(const model::GpuWorkRow& row);

  struct Found {
    std::vector<Gap> gaps;                                            // by start
    std::unordered_map<int32_t, std::vector<Stretch>> communication;  // by GPU, by start, disjoint
    std::unordered_map<int32_t, Unlisted> unlisted;                   // by GPU: gaps shorter than kListedNs
    std::unordered_map<int32_t, Unlisted> beyond;                     // by GPU: gaps after the first kGapsMax
    int64_t talks_left_out = 0;                                       // communication kernels beyond kTalksMax
    int64_t not_taken_back = 0;                                       // operations in gaps that were already counted
  };
  // Call once.
  Found finish();

 private:
  struct Busy : Stretch {
    int32_t thread_id = 0;  // this and the next ones are of the stretch's first operation
    int64_t launch_ns = 0;
    int64_t correlation = 0;
    int64_t mark_id = 0;
    int32_t mark_path = 0;
  };
  // The gaps are disjoint and end before settled_until_ns. `busy`: later stretches, whose gaps are not found yet.
  struct Device {
    std::vector<Busy> busy;
    int64_t settled_until_ns = INT64_MIN;
    std::vector<Gap> gaps;
    std::vector<Stretch> short_gaps;
    Unlisted counted_short, beyond;  // counted gaps, which cannot be taken back any more
  };
  void take_back(Device& device, int64_t from_ns);
  void settle(int32_t gpu_id, Device& device, size_t keep);
  void add_gap(int32_t gpu_id, Device& device, const Busy& next);
  void add_short(Device& device, const Stretch& gap);
  void add_communication(int32_t gpu_id, Stretch talk);
  void count_short(Device& device, size_t gaps);

  std::unordered_map<int32_t, Device> devices_;
  Found found_;
  size_t talks_ = 0, listed_ = 0, short_ = 0;
};

}  // namespace mlrun::idle
