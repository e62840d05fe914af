// SPDX-License-Identifier: Apache-2.0
// Merges the records of all rings into one stream, ordered by time. A thread that moves to another processor leaves
// records in several rings, so its records must be brought into order. Readers of the spool rely on this: if record A
// was in its ring before the time of record B was read, A comes before B. So each thread's records are in program
// order.
//
// Within a ring this holds because a program reads a record's time before it reserves the record (bpf/ring.h). Between
// rings a pass ensures it:
//
//   1. It reads the writer positions of all rings (first reading), and then reads them again (second reading). Every
//      record that must precede a record of the first reading, in whichever ring, is before the second reading.
//   2. It repeatedly takes the earliest of the first untaken records of the rings, not beyond the second reading, until
//      all records of the first reading are taken. A record X that must precede a taken record is before the second
//      reading, too, as it is older than a record of the first reading. X cannot be behind an untaken record Y of its
//      ring: X would have been begun after the time of Y, which is no earlier than that of the taken record.
//   3. If the first untaken record of a ring is still being filled, the pass ends: that record may be the earliest. It
//      delays all rings, as it would delay one ring, so they may fill up, which is counted as loss. Programs fill a
//      record in less than a microsecond, unless they are preempted for a moment.
//
// The reader reads no clock, since a time namespace may shift it. It copies nothing: untaken records stay in their
// rings, so no other memory is used.
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

  // Calls `take` for the records that were in the rings at the call, and for most that arrive meanwhile. `take` must
  // not call this object.
  void drain(const Take& take);

 private:
  struct Front {
    MappedRing ring;
    uint64_t first_end = 0, end = 0;  // the first and the second reading
    uint64_t time_ns = 0;             // of its first untaken record; none left: a time after all others
  };
  bool pass(const Take& take);
  static bool look_at(Front& front);

  std::vector<Front> fronts_;
};

}  // namespace mlrun::probes
