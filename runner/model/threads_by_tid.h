// SPDX-License-Identifier: Apache-2.0
// Finds the thread of the trace that a thread id of the system meant at a moment. Ids are reused; an exec starts another
// row of the same thread; processes in pid namespaces that mlrun could not join to its own may have equal ids at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mlrun::model {

class ThreadsByTid {
 public:
  struct Known {
    int64_t first_ns = 0, last_ns = 0;
    int32_t proc_id = 0, thread_id = 0;
  };

  void add(int32_t tid, const Known& thread) {
    std::vector<Known>& all = known_[tid];
    const auto later = std::upper_bound(all.begin(), all.end(), thread.first_ns,
                                        [](int64_t ns, const Known& one) { return ns < one.first_ns; });
    all.insert(later, thread);
  }

  // The thread of that id that was alive at `ts_ns`; else the latest one that had begun, because a thread also acts
  // after its last row; else the first one. 0: there is none, or threads of several processes were alive.
  [[nodiscard]] int32_t find(int32_t tid, int64_t ts_ns) const {
    const auto found = known_.find(tid);
    if (found == known_.end()) return 0;
    const Known* latest = &found->second.front();
    const Known* alive = nullptr;
    for (const Known& one : found->second) {
      if (one.first_ns > ts_ns) break;
      latest = &one;
      if (one.last_ns < ts_ns) continue;
      if (alive != nullptr && alive->proc_id != one.proc_id) return 0;
      alive = &one;
    }
    return alive != nullptr ? alive->thread_id : latest->thread_id;
  }

 private:
  std::unordered_map<int32_t, std::vector<Known>> known_;  // by tid; each list by first_ns
};

}  // namespace mlrun::model
