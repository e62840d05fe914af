// SPDX-License-Identifier: Apache-2.0
// Numbers the distinct values of a row group in order of appearance; the hash table takes a few nanoseconds per value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "runner/util/scrambled.h"

namespace mlrun::tables {

template <typename T>
class ValueNumbers {
 public:
  static constexpr uint32_t kFull = UINT32_MAX;

  // Clears the table; at most `entries_max` values get numbers.
  void clear(size_t entries_max) {
    entries_max_ = entries_max;
    values_.clear();
    slots_.assign(kSlotsAtFirst, 0);
    shift_ = kWordBits - kSlotsAtFirstLog;
  }

  // Returns kFull if the value has no number and the table is full.
  uint32_t number_of(T value) {
    for (size_t at = home(value);; at = (at + 1) & (slots_.size() - 1)) {
      const uint32_t place = slots_[at];
      if (place == 0) return insert(value, at);
      if (values_[place - 1] == value) return place - 1;
    }
  }

  [[nodiscard]] const std::vector<T>& values() const { return values_; }

 private:
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static constexpr unsigned kWordBits = 64, kSlotsAtFirstLog = 10;
  static constexpr size_t kSlotsAtFirst = size_t{1} << kSlotsAtFirstLog;

  // High bits of a product with a random odd factor, so that an adversary cannot choose colliding values.
  [[nodiscard]] size_t home(T value) const {
    static const uint64_t kFactor = util::scrambled(1) | 1;
    Bits bits = 0;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return static_cast<size_t>(uint64_t{bits} * kFactor >> shift_);
  }

  uint32_t insert(T value, size_t at) {
    if (values_.size() >= entries_max_) return kFull;
    values_.push_back(value);
    slots_[at] = static_cast<uint32_t>(values_.size());
    if (values_.size() * 2 > slots_.size()) grow();
    return static_cast<uint32_t>(values_.size() - 1);
  }

  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    --shift_;
    for (size_t i = 0; i < values_.size(); ++i) {
      size_t at = home(values_[i]);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<uint32_t>(i + 1);
    }
  }

  size_t entries_max_ = 0;
  unsigned shift_ = kWordBits - kSlotsAtFirstLog;
  std::vector<T> values_;
  std::vector<uint32_t> slots_;  // 1 + number; 0: none. A power of two, at most half full
};

}  // namespace mlrun::tables
