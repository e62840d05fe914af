// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/pace.h"

#include <algorithm>

#include "runner/collect/shared_word.h"

namespace mlrun::collect {

namespace {
constexpr uint64_t kShortestNs = 1'000'000;
constexpr uint64_t kLongestNs = 50'000'000;
constexpr uint32_t kAim = 8;
}  // namespace

void Pace::begin_pass() {
  wake_word_ = load(control_.wake);
  store(control_.woken, 0u);
}

void Pace::sleep(uint32_t released, const SegmentPool& pool, bool hurry) {
  if (released > kAim) sleep_ns_ /= 2;
  if (released < kAim / 2) sleep_ns_ *= 2;
  sleep_ns_ = hurry ? kShortestNs : std::clamp(sleep_ns_, kShortestNs, kLongestNs);
  const bool short_of_segments = (pool.half_used() && released > 0) || pool.wants_more();
  if (short_of_segments || load(control_.woken) != 0) return;
  futex_wait(control_.wake, wake_word_, sleep_ns_);
}

}  // namespace mlrun::collect
