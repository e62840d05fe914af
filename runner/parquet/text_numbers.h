// SPDX-License-Identifier: Apache-2.0
// Numbers the distinct texts of a row group in order of appearance, as value_numbers.h does numbers. Texts are not copied: they must live as
// long as this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runner/util/scrambled.h"

namespace mlrun::tables {

class TextNumbers {
 public:
  static constexpr uint32_t kFull = UINT32_MAX;

  // At most `entries_max` texts get numbers. Together they may have `bytes_max` bytes, or `bytes_of_few` bytes if most texts are new.
  TextNumbers(size_t entries_max, size_t bytes_of_few, size_t bytes_max)
      : entries_max_(entries_max), bytes_of_few_(bytes_of_few), bytes_max_(bytes_max), slots_(kSlotsAtFirst) {}

  // Returns kFull if the text has no number and gets none.
  uint32_t number_of(std::string_view text) {
    ++seen_;
    if (!texts_.empty() && texts_[last_] == text) return last_;
    const uint64_t hash = hash_of(text);
    for (size_t at = hash >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
      const Slot slot = slots_[at];
      if (slot.place == 0) return insert(text, hash, at);
      if (slot.tag == static_cast<uint32_t>(hash) && texts_[slot.place - 1] == text) return last_ = slot.place - 1;
    }
  }

  [[nodiscard]] const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  __extension__ using Wide = unsigned __int128;
  struct Slot {
    // Place: 1 + number, 0: none. tag: the low bits of the hash; its high bits choose the slot.
    uint32_t place = 0, tag = 0;
  };
  static constexpr unsigned kWordBits = 64, kSlotsAtFirstLog = 8;
  static constexpr size_t kSlotsAtFirst = size_t{1} << kSlotsAtFirstLog;

  template <typename Word>
  static uint64_t word_at(const char* from) {
    Word word;
    __builtin_memcpy(&word, from, sizeof word);
    return word;
  }
  // Words are mixed with random numbers by a product of twice their width, so that an adversary cannot choose colliding texts.
  static uint64_t hash_of(std::string_view text) {
    static const uint64_t kFactor = util::scrambled(2) | 1, kBegin = util::scrambled(3);
    uint64_t hash = kBegin ^ text.size();
    const auto mix = [&](uint64_t word) {
      const Wide product = static_cast<Wide>(hash ^ word) * kFactor;
      hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> kWordBits);
    };
    const char* from = text.data();
    size_t left = text.size();
    for (; left > sizeof(uint64_t); left -= sizeof(uint64_t), from += sizeof(uint64_t)) mix(word_at<uint64_t>(from));
    // The last two words may overlap.
    if (text.size() >= sizeof(uint64_t)) {
      mix(word_at<uint64_t>(from + left - sizeof(uint64_t)));
    } else if (left >= sizeof(uint32_t)) {
      mix(word_at<uint32_t>(from) << 32 | word_at<uint32_t>(from + left - sizeof(uint32_t)));
    } else if (left != 0) {
      mix(word_at<uint8_t>(from) << 16 | word_at<uint8_t>(from + left / 2) << 8 | word_at<uint8_t>(from + left - 1));
    }
    return hash * kFactor;
  }

  uint32_t insert(std::string_view text, uint64_t hash, size_t at) {
    bytes_ += text.size() + sizeof(uint32_t);
    const bool are_few = texts_.size() * 2 < seen_;
    if (texts_.size() >= entries_max_ || bytes_ > (are_few ? bytes_max_ : bytes_of_few_)) return kFull;
    texts_.push_back(text);
    hashes_.push_back(hash);
    last_ = static_cast<uint32_t>(texts_.size() - 1);
    slots_[at] = {last_ + 1, static_cast<uint32_t>(hash)};
    if (texts_.size() * 2 > slots_.size()) grow();
    return last_;
  }

  void grow() {
    slots_.assign(slots_.size() * 2, {});
    --shift_;
    for (size_t i = 0; i < hashes_.size(); ++i) {
      size_t at = hashes_[i] >> shift_;
      while (slots_[at].place != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {static_cast<uint32_t>(i + 1), static_cast<uint32_t>(hashes_[i])};
    }
  }

  const size_t entries_max_, bytes_of_few_, bytes_max_;
  size_t seen_ = 0, bytes_ = 0;
  uint32_t last_ = 0;
  unsigned shift_ = kWordBits - kSlotsAtFirstLog;
  std::vector<std::string_view> texts_;
  std::vector<uint64_t> hashes_;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace mlrun::tables
