// SPDX-License-Identifier: Apache-2.0
// The records of all rings as one stream in order of time. A thread that moves to another processor leaves its records in
// several rings, and those who read the spool rely on this: of two records of which one was in its ring before the other
// one's time was taken, it comes first. So what a thread does one after the other stands there so.
//
// In each ring that is so, because programs take a record's time before its place (bpf/ring.h). Between rings a pass holds:
//
//   1. It reads how far the writers of all rings are, and then reads that a second time. What had to come before a record
//      that was there the first time, in whichever ring, is there the second time.
//   2. Of the records at the front of all rings it takes the earliest, up to the second reading, until it has all of the
//      first. What had to come before one that it takes was there the second time, too, as it is older than one of the
//      first; and it does not stand behind a front, for what does was begun after that one's time.
//   3. A record at a front that is still being filled ends the pass: what is behind it may be the earliest. It holds up the
//      others as it would in one ring, so they may fill up, which is counted. Programs fill in less than a microsecond, or are
//      preempted for a moment.
//
// No clock is asked, which a time namespace may have moved. Nothing is copied: what is not taken stays in its ring, so there is no
// more memory than theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kprobes/rings/mapped_ring.h"

namespace mlrun::probes {

class RingReader {
 public:
  using Take = std::function<void(const void* record, size_t bytes)>;

  // Every record begins with mlrun_kernel_head.
  explicit RingReader(std::vector<MappedRing> rings);

  // Hands over what was in the rings when it was called, and most of what has come meanwhile. `take` calls nothing here.
  void drain(const Take& take);

 private:
  struct Front {
    MappedRing ring;
    uint64_t first_end = 0, end = 0;  // the first and the second reading
    uint64_t time_ns = 0;             // of its next record before the end
  };
  bool pass(const Take& take);
  static bool look_at(Front& front);

  std::vector<Front> fronts_;
};

}  // namespace mlrun::probes
