// SPDX-License-Identifier: Apache-2.0
// Finds the thread that a number meant in an image at a moment, as the process itself numbers its threads (in its pid
// namespace). Numbers are used again after a thread has ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

namespace mlrun::trace {

class ThreadNumbers {
 public:
  struct Known {
    int64_t first_ns = 0;
    int32_t thread_id = 0;
  };

  // Requires: in order of time.
  void add(int32_t image_id, uint32_t tid, Known thread) { known_[key(image_id, tid)].push_back(thread); }

  // The latest thread of that number that had begun at `ts_ns`, else the first one; 0: there is none.
  [[nodiscard]] int32_t find(int32_t image_id, uint32_t tid, int64_t ts_ns) const {
    const auto found = known_.find(key(image_id, tid));
    if (found == known_.end()) return 0;
    const std::vector<Known>& all = found->second;
    const auto later =
        std::partition_point(all.begin(), all.end(), [&](const Known& one) { return one.first_ns <= ts_ns; });
    return later == all.begin() ? all.front().thread_id : std::prev(later)->thread_id;
  }

 private:
  static uint64_t key(int32_t image_id, uint32_t tid) { return uint64_t{static_cast<uint32_t>(image_id)} << 32 | tid; }

  std::unordered_map<uint64_t, std::vector<Known>> known_;
};

}  // namespace mlrun::trace
