// SPDX-License-Identifier: Apache-2.0
// Joins durations of frees (--alloc-dur) with their rows. They have records of their own, usually the thread's next
// record after the free; a signal handler's calls or the end of a frame may come between, and so rows of other threads.
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
  using AllocRows = std::vector<model::AllocRow, summary::HugePageAllocator<model::AllocRow>>;

  void clear() { waiting_.clear(); }

  // `rows`: the rows so far; the last one usually is the free.
  void add(const FreeTime& time, AllocRows& rows);

  // Applies the remaining times, when all rows exist. A time whose free has no row is ignored.
  void apply(AllocRows& rows);

 private:
  std::vector<FreeTime> waiting_;
};

}  // namespace mlrun::trace
