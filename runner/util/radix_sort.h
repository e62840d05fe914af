// SPDX-License-Identifier: Apache-2.0
// Sorts references to rows by time: a stable radix sort over the digits in which the times differ. At least ten million
// a second, independent of the input order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mlrun::util {

// Sorts `items`, a vector, by their time_ns (int64_t >= 0); `spare` is scratch space.
template <typename Items>
void sort_by_time(Items& items, Items& spare) {
  using Item = typename Items::value_type;
  if (items.size() < 2) return;
  constexpr unsigned kDigitBitsMax = 11, kDigitsMax = 6;
  constexpr size_t kValuesMax = size_t{1} << kDigitBitsMax;
  const auto [first, last] = std::minmax_element(items.begin(), items.end(),
                                                 [](const Item& a, const Item& b) { return a.time_ns < b.time_ns; });
  const auto base = static_cast<uint64_t>(first->time_ns);
  const auto bits = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(last->time_ns) - base));
  const unsigned digits = (bits + kDigitBitsMax - 1) / kDigitBitsMax;
  // Few bits per digit mean few simultaneous write positions, which fit into the cache.
  const unsigned digit_bits = digits == 0 ? 0 : (bits + digits - 1) / digits;
  const uint64_t mask = (uint64_t{1} << digit_bits) - 1;
  const auto digit = [&](const Item& item, unsigned number) {
    return (static_cast<uint64_t>(item.time_ns) - base) >> (number * digit_bits) & mask;
  };
  // Start offset of each value of each digit, counted for all digits at once.
  std::array<std::array<uint32_t, kValuesMax>, kDigitsMax> places{};
  for (const Item& item : items) {
    for (unsigned number = 0; number < digits; ++number) ++places[number][digit(item, number)];
  }
  spare.resize(items.size());
  for (unsigned number = 0; number < digits; ++number) {
    uint32_t sum = 0;
    for (uint32_t& place : places[number]) sum += std::exchange(place, sum);
    for (const Item& item : items) spare[places[number][digit(item, number)]++] = item;
    items.swap(spare);
  }
}

// Like sort_by_time, for almost sorted items: moves only those that are out of order; if they are many, calls
// sort_by_time.
template <typename Items>
void sort_nearly_sorted(Items& items, Items& spare) {
  using Item = typename Items::value_type;
  size_t moves_left = items.size() * 2;
  for (size_t i = 1; i < items.size(); ++i) {
    if (items[i].time_ns >= items[i - 1].time_ns) continue;
    const Item item = items[i];
    size_t at = i;
    for (; at != 0 && items[at - 1].time_ns > item.time_ns && moves_left != 0; --at, --moves_left) {
      items[at] = items[at - 1];
    }
    items[at] = item;
    if (moves_left == 0) return sort_by_time(items, spare);
  }
}

}  // namespace mlrun::util
