// SPDX-License-Identifier: Apache-2.0
// A kernel array (BPF_MAP_TYPE_ARRAY with BPF_F_MMAPABLE), read through its shared memory.
//
// Maps that are polled while BPF programs are attached are read this way and not by bpf() calls. During such a call the
// kernel runs no kprobe program on that processor (before Linux 6.0 no uprobe program either): neither in an interrupt,
// nor in another task that preempts the caller. Events would be lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runner/util/mapping.h"
#include "runner/util/result.h"

struct bpf_map;

namespace mlrun::probes {

class MappedArray {
 public:
  MappedArray() = default;
  // Requires: `map` is loaded, and its values' size is a multiple of 8 bytes.
  static Result<MappedArray> map(const bpf_map* map);

  [[nodiscard]] size_t size() const { return size_; }
  // The 64-bit word at `offset_bytes` of value `index`. Requires: index < size(). An acquire load: what a BPF program
  // wrote before it wrote this word is visible as well.
  [[nodiscard]] uint64_t word(size_t index, size_t offset_bytes = 0) const {
    char* at = memory_.data() + index * value_bytes_ + offset_bytes;
    return std::atomic_ref(*reinterpret_cast<uint64_t*>(at)).load(std::memory_order_acquire);
  }

 private:
  MappedArray(util::Mapping memory, size_t size, size_t value_bytes)
      : memory_(std::move(memory)), size_(size), value_bytes_(value_bytes) {}

  util::Mapping memory_;
  size_t size_ = 0, value_bytes_ = 0;
};

}  // namespace mlrun::probes
