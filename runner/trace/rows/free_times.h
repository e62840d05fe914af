// SPDX-License-Identifier: Apache-2.0
// Durations of frees (--alloc-dur) stand in records of their own, each behind that of its free, mostly the next one of
// its thread. Between the two there may be a handler's calls, or the end of a frame, so that other threads' rows lie
// between them.
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

  // `rows`: those that were met before; the last one mostly is its free.
  void add(const FreeTime& time, AllocRows& rows);

  // The others, when all rows are there. One whose free is not among them says nothing.
  void apply(AllocRows& rows);

 private:
  std::vector<FreeTime> waiting_;
};

}  // namespace mlrun::trace
