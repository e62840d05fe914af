// SPDX-License-Identifier: Apache-2.0
// Turns totals of the kernel into increases between two samples. Each key (a processor, a device, a node) has its own
// totals.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>

#include "runner/events/counter_sample.h"

namespace mlrun::machine {

enum class Counts : uint8_t {
  kTotal,    // a counter; a lower value than before means that it began again at 0
  kTotal32,  // a counter that may have only 32 bits, so a lower value may also mean that it wrapped
  kUp,       // a counter that the kernel may correct downwards: no increase until it exceeds its largest value
  kNow       // not a counter: the current value
};

// The increase from `before` to `now`. The kernel counts milliseconds of disks in 32 bits, which wrap after 49 days.
// Some drivers count bytes and packets in 32 bits.
inline int64_t increase(Counts counts, int64_t before, int64_t now) {
  constexpr int64_t kWrap = int64_t{1} << 32;
  if (counts == Counts::kNow) return now;
  if (before == MLRUN_NOT_KNOWN || now == MLRUN_NOT_KNOWN) return MLRUN_NOT_KNOWN;
  if (now >= before) return now - before;
  if (counts == Counts::kUp) return 0;
  const bool wrapped = counts == Counts::kTotal32 && before < kWrap && now + kWrap - before < kWrap / 2;
  return wrapped ? now + kWrap - before : now;
}

template <typename Key, typename Sample>
class Differences {
 public:
  static constexpr size_t kFields = std::size(decltype(Sample::values){});
  using Values = std::array<int64_t, kFields>;
  using Kinds = std::array<Counts, kFields>;

  explicit Differences(const Kinds& kinds) : kinds_(kinds) {}

  static Values unknown() {
    Values values;
    values.fill(MLRUN_NOT_KNOWN);
    return values;
  }

  void begin(uint64_t now_ns) { now_ns_ = now_ns; }
  // Fills in times and values. False: the first sample of this key, which has no row.
  bool step(const Key& key, const Values& now, Sample& sample) {
    const auto [known, is_new] = before_.try_emplace(key);
    Before& before = known->second;
    if (!is_new) {
      sample.monotonic_ns = now_ns_;
      sample.interval_ns = now_ns_ - before.at_ns;
      for (size_t i = 0; i < kFields; ++i) sample.values[i] = increase(kinds_[i], before.values[i], now[i]);
    }
    for (size_t i = 0; i < kFields; ++i) {
      const bool keeps = !is_new && kinds_[i] == Counts::kUp && now[i] != MLRUN_NOT_KNOWN;
      before.values[i] = keeps ? std::max(before.values[i], now[i]) : now[i];
    }
    before.at_ns = now_ns_;
    return !is_new;
  }
  // Forgets keys without a sample since begin(): if such a key comes back, its first sample has no row.
  void end() {
    std::erase_if(before_, [this](const auto& entry) { return entry.second.at_ns != now_ns_; });
  }

 private:
  struct Before {
    Values values{};
    uint64_t at_ns = 0;
  };
  Kinds kinds_;
  std::map<Key, Before> before_;
  uint64_t now_ns_ = 0;
};

// For samples whose values are all of one kind.
template <size_t kFields>
constexpr std::array<Counts, kFields> all_of(Counts counts) {
  std::array<Counts, kFields> kinds{};
  kinds.fill(counts);
  return kinds;
}

}  // namespace mlrun::machine
