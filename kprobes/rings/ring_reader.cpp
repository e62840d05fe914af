// SPDX-License-Identifier: Apache-2.0
#include "kprobes/rings/ring_reader.h"

#include <algorithm>
#include <utility>

#include "runner/events/kernel_record.h"

namespace mlrun::probes {

namespace {

constexpr uint64_t kNone = UINT64_MAX;
constexpr int kPasses = 16;   // usually one is enough; a limit, in case records arrive as fast as they are taken
constexpr int kTries = 1000;  // some 40 us: a program that was not preempted has filled its record by then

}  // namespace

RingReader::RingReader(std::vector<MappedRing> rings) {
  for (MappedRing& ring : rings) fronts_.push_back({std::move(ring), 0, 0, kNone});
}

void RingReader::drain(const Take& take) {
  for (int i = 0; i < kPasses && pass(take); i++) {
  }
}

// Reads the time of a ring's first untaken record. False: a program still fills that record.
bool RingReader::look_at(Front& front) {
  front.time_ns = kNone;
  if (front.ring.position() == front.end) return true;
  for (int tries = 0; tries < kTries; tries++) {
    const MappedRing::Record record = front.ring.next();
    if (record.data != nullptr) {
      // A discarded record has no time: it is taken at once.
      front.time_ns = record.is_taken_back ? 0 : static_cast<const mlrun_kernel_head*>(record.data)->time_ns;
      return true;
    }
    __builtin_ia32_pause();
  }
  return false;
}

// One pass (ring_reader.h). True: it may have taken records.
bool RingReader::pass(const Take& take) {
  size_t left = 0;  // number of rings with untaken records of the first reading
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
