// SPDX-License-Identifier: Apache-2.0
// The records of all rings as one stream in time order. A thread that moves to another processor leaves records in
// several rings, and readers of the spool rely on this order: if a record was in its ring before another one's time was
// taken, it comes first. So each thread's records are in program order.
//
// In each ring this holds because programs take a record's time before its place (bpf/ring.h). Between rings a pass
// ensures it:
//
//   1. It reads the writer positions of all rings, and then reads them again. Everything that must precede a record
//      of the first reading, in whichever ring, is there at the second.
//   2. It takes the earliest of the records at the front of all rings, up to the second reading, until it has all of
//      the first. Whatever must precede a taken record was there at the second reading, too, as it is older than one
//      of the first; and it is not behind a front, because records behind a front began after that front's time.
//   3. A record at a front that is still being filled ends the pass: what follows it may be the earliest. It delays
//      the others as it would in one ring, so they may fill up, which is counted. Programs fill a record in less than
//      a microsecond, unless they are preempted for a moment.
//
// Reads no clock, which a time namespace may have shifted. Copies nothing: what is not taken stays in its ring, so the
// rings are all the memory in use.
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

  // Passes on what was in the rings at the call, and most of what arrives meanwhile. `take` must not call this object.
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
