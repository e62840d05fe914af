// SPDX-License-Identifier: Apache-2.0
// Hash map from non-zero integers to small values: open addressing, linear probing, no tombstones. For per-row
// lookups: about 5 ns when warm, one cache miss when not. Pointers to values are valid until the next insertion or
// removal.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "runner/util/huge_pages.h"
#include "runner/util/prefetch.h"

namespace mlrun::util {

template <typename Value, template <typename> class Allocator = HugePageAllocator>
class FlatMap {
 public:
  // Packed to the value's alignment: a slot with a 32-bit value takes 12 bytes. Key 0: the slot is empty.
  struct Slot {
    using KeyPart = std::conditional_t<alignof(Value) < alignof(uint64_t), uint32_t, uint64_t>;
    static constexpr size_t kKeyParts = alignof(Value) < alignof(uint64_t) ? 2 : 1;
    std::array<KeyPart, kKeyParts> key_parts{};
    Value value{};

    [[nodiscard]] uint64_t key() const { return std::bit_cast<uint64_t>(key_parts); }
    void set_key(uint64_t key) { key_parts = std::bit_cast<decltype(key_parts)>(key); }
  };

  // Requires: key != 0, here and below.
  [[nodiscard]] const Value* find(uint64_t key) const {
    if (size_ == 0) return nullptr;
    for (size_t i = home(key);; i = next(i)) {
      if (slots_[i].key() == key) return &slots_[i].value;
      if (slots_[i].key() == 0) return nullptr;
    }
  }
  [[nodiscard]] Value* find(uint64_t key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

  // To be called some rows before `key` is looked up.
  void prefetch(uint64_t key) const {
    if (!slots_.empty()) util::prefetch(&slots_[home(key)]);
  }

  // The value of `key`, inserted if missing; `*made` says whether it was inserted.
  Value& at(uint64_t key, bool* made = nullptr) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    size_t i = home(key);
    while (slots_[i].key() != key && slots_[i].key() != 0) i = next(i);
    if (made) *made = slots_[i].key() == 0;
    if (slots_[i].key() == 0) {
      slots_[i].set_key(key);
      if (++size_ % kTrimSteps == 0) Allocator<Slot>::trim();
    }
    return slots_[i].value;
  }

  // Closes the gap by moving back later entries of the probe run, so no tombstones are needed.
  void erase(uint64_t key) {
    if (size_ == 0) return;
    size_t hole = home(key);
    while (slots_[hole].key() != key) {
      if (slots_[hole].key() == 0) return;
      hole = next(hole);
    }
    for (size_t i = next(hole); slots_[i].key() != 0; i = next(i)) {
      const size_t wants = home(slots_[i].key());
      if (((i - wants) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = Slot{};
    --size_;
  }

  void clear() {
    slots_ = Slots();
    size_ = 0;
  }
  [[nodiscard]] size_t size() const { return size_; }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.key() != 0) visit(slot.key(), slot.value);
    }
  }

 private:
  using Slots = std::vector<Slot, Allocator<Slot>>;
  static constexpr size_t kTrimSteps = 256;  // insertions between two trims; each makes up to 64 KiB resident

  [[nodiscard]] size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] size_t next(size_t i) const { return (i + 1) & mask(); }
  // The folded high half of the product: spreads ids that differ in few bits as well as addresses with zero low bits.
  [[nodiscard]] size_t home(uint64_t key) const {
    const uint64_t product = key * 0x9e3779b97f4a7c15u;
    return (product ^ product >> 32) & mask();
  }

  void grow() {
    Slots old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    size_t moved = 0;
    for (Slot& slot : old) {
      if (slot.key() == 0) continue;
      if (++moved % kTrimSteps == 0) Allocator<Slot>::trim();
      size_t i = home(slot.key());
      while (slots_[i].key() != 0) i = next(i);
      slots_[i] = std::move(slot);
    }
  }

  Slots slots_;  // their number is a power of two; at most three quarters are used
  size_t size_ = 0;
};

}  // namespace mlrun::util
