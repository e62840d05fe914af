// SPDX-License-Identifier: Apache-2.0
// Parquet's RLE/bit-packing hybrid: runs of one number, and groups of eight bit-packed numbers, lowest bit first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mlrun::tables {

class HybridCode {
 public:
  // Appends to `bytes`. Requires: 1 <= bit_width <= 32, and no number needs more.
  HybridCode(std::vector<uint8_t>& bytes, unsigned bit_width) : bytes_(bytes), bit_width_(bit_width) {}

  void add_run(uint64_t count, uint32_t number) {
    add_length(count << 1);
    for (unsigned bit = 0; bit < bit_width_; bit += 8) bytes_.push_back(static_cast<uint8_t>(number >> bit));
  }

  // Appends bits that are already packed, for bit width 1. Requires: (count + 7) / 8 bytes.
  void add_bits(const uint8_t* bits, size_t count) {
    const size_t groups = (count + kGroup - 1) / kGroup;
    add_length(groups << 1 | 1);
    bytes_.insert(bytes_.end(), bits, bits + groups);
  }

  // Call once, last.
  void add(std::span<const uint32_t> numbers) {
    size_t packed_from = 0, at = 0;
    while (at < numbers.size()) {
      if (!run_begins(numbers.subspan(at))) {
        at += std::min(kGroup, numbers.size() - at);
        continue;
      }
      add_packed(numbers.subspan(packed_from, at - packed_from));
      const uint32_t number = numbers[at];
      const size_t begin = at;
      while (at < numbers.size() && numbers[at] == number) ++at;
      add_run(at - begin, number);
      packed_from = at;
    }
    add_packed(numbers.subspan(packed_from));
  }

 private:
  static constexpr size_t kGroup = 8;
  static constexpr size_t kRunMin = 2 * kGroup;  // shorter runs save nothing

  static bool run_begins(std::span<const uint32_t> numbers) {
    if (numbers.size() < kRunMin || numbers[0] != numbers[kRunMin - 1]) return false;
    return std::all_of(numbers.begin(), numbers.begin() + kRunMin, [&](uint32_t other) { return other == numbers[0]; });
  }

  void add_length(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<uint8_t>(value));
  }

  // Writes whole groups; only the last group may be short.
  void add_packed(std::span<const uint32_t> numbers) {
    if (numbers.empty()) return;
    const size_t groups = (numbers.size() + kGroup - 1) / kGroup;
    add_length(groups << 1 | 1);
    const size_t begin = bytes_.size();
    bytes_.resize(begin + groups * bit_width_ + sizeof(uint64_t));  // padding for the last 8-byte store
    uint8_t* to = bytes_.data() + begin;
    uint64_t word = 0;
    unsigned bits = 0;
    for (const uint32_t number : numbers) {
      word |= uint64_t{number} << bits;
      bits += bit_width_;
      if (bits < 32) continue;
      const auto low = static_cast<uint32_t>(word);
      __builtin_memcpy(to, &low, sizeof low);
      to += sizeof low;
      word >>= 32;
      bits -= 32;
    }
    __builtin_memcpy(to, &word, sizeof word);
    bytes_.resize(begin + groups * bit_width_);
  }

  std::vector<uint8_t>& bytes_;
  unsigned bit_width_;
};

}  // namespace mlrun::tables
