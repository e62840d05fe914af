// SPDX-License-Identifier: Apache-2.0
// Joins durations of frees (--alloc-dur) with the frees' rows. A duration has its own record, usually the thread's next
// record after the free's. Calls of a signal handler, or the end of a spool frame and so rows of other threads, may come
// between the two.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/rows.h"
#include "runner/util/huge_pages.h"

namespace mlrun::trace {

struct FreeTime {
  int32_t thread_id = 0;
  int64_t start_ns = 0;  // of the free
  int64_t dur_ns = 0;
};

class FreeTimes {
 public:
  using AllocRows = std::vector<model::AllocRow, util::HugePageAllocator<model::AllocRow>>;

  void clear() { waiting_.clear(); }

  // Sets the duration if the free is the last of `rows`, as it usually is; else the time waits for apply().
  void add(const FreeTime& time, AllocRows& rows);

  // Applies the waiting times. Requires: all rows exist. A time whose free has no row is ignored.
  void apply(AllocRows& rows);

 private:
  std::vector<FreeTime> waiting_;
};

}  // namespace mlrun::trace
