// SPDX-License-Identifier: Apache-2.0
#include "kprobes/rings/ring_reader.h"

#include <algorithm>
#include <utility>

#include "runner/events/kernel_record.h"

namespace mlrun::probes {

namespace {

constexpr uint64_t kNone = UINT64_MAX;
constexpr int kPasses = 16;   // one is usually enough; a limit, in case records arrive as fast as they are taken
constexpr int kTries = 1000;  // some 40 us: a program that was not preempted has filled its record by then

}  // namespace

RingReader::RingReader(std::vector<MappedRing> rings) {
  for (MappedRing& ring : rings) fronts_.push_back({std::move(ring), 0, 0, kNone});
}

void RingReader::drain(const Take& take) {
  for (int i = 0; i < kPasses && pass(take); i++) {
  }
}

// False: its next record is still being filled.
bool RingReader::look_at(Front& front) {
  front.time_ns = kNone;
  if (front.ring.position() == front.end) return true;
  for (int tries = 0; tries < kTries; tries++) {
    const MappedRing::Record record = front.ring.next();
    if (record.data != nullptr) {
      // A discarded record does not hold up the others.
      front.time_ns = record.is_taken_back ? 0 : static_cast<const mlrun_kernel_head*>(record.data)->time_ns;
      return true;
    }
    __builtin_ia32_pause();
  }
  return false;
}

// True: it has taken a record.
bool RingReader::pass(const Take& take) {
  size_t left = 0;  // rings whose records before the first reading are not all taken
  for (Front& front : fronts_) {
    front.first_end = front.ring.written();
    left += front.first_end != front.ring.position() ? 1 : 0;
  }
  if (left == 0) return false;
  for (Front& front : fronts_) front.end = front.ring.written();
  for (Front& front : fronts_) {
    if (!look_at(front)) return false;
  }
  while (left != 0) {
    const auto first = std::min_element(fronts_.begin(), fronts_.end(),
                                        [](const Front& a, const Front& b) { return a.time_ns < b.time_ns; });
    const MappedRing::Record record = first->ring.next();
    if (!record.is_taken_back) take(record.data, record.bytes);
    first->ring.pass();
    left -= first->ring.position() == first->first_end ? 1 : 0;
    if (!look_at(*first)) break;
  }
  return true;
}

}  // namespace mlrun::probes
