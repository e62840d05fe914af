// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/stretches.h"

#include <algorithm>

#include "runner/util/scrambled.h"

namespace mlrun::sums {

namespace {
bool begins_later(uint64_t ns, const mlrun_stretch& stretch) { return ns < stretch.first_monotonic_ns; }
}  // namespace

void Stretches::begin(uint64_t monotonic_ns) {
  const auto behind = std::upper_bound(bounds_.begin(), bounds_.end(), monotonic_ns, begins_later);
  if (behind != bounds_.begin() && std::prev(behind)->first_monotonic_ns == monotonic_ns) return;
  if (bounds_.size() >= kBoundsMax) {
    left_out_++;
    return;
  }
  bounds_.insert(behind, {monotonic_ns, bounds_.size() + 1});
}

uint32_t Stretches::at(uint64_t monotonic_ns) const {
  if (bounds_.empty() || monotonic_ns < bounds_.front().first_monotonic_ns) return 0;
  const auto behind = monotonic_ns >= bounds_.back().first_monotonic_ns
                          ? bounds_.end()
                          : std::upper_bound(bounds_.begin(), bounds_.end(), monotonic_ns, begins_later);
  return static_cast<uint32_t>(std::prev(behind)->number);
}

StretchSum& Stretches::sum(uint32_t process, uint32_t stretch, uint64_t channel) {
  const auto key_of = [&](uint32_t who) { return util::scrambled(uint64_t{who} << 32 | stretch); };
  if (const uint32_t* found = by_key_.find(key_of(process))) return sums_[*found];
  const bool has_room = sums_.size() < kSumsMax;
  bool made = false;
  uint32_t& index = by_key_.at(key_of(has_room ? process : 0), &made);
  if (!made) return sums_[index];
  index = static_cast<uint32_t>(sums_.size());
  return sums_.emplace_back(StretchSum{has_room ? channel : 0, stretch, 0, 0, 0, 0});
}

}  // namespace mlrun::sums
