// SPDX-License-Identifier: Apache-2.0
// Allocator for large tables with random access: from 4 MiB on it requests huge pages, which avoid most TLB misses.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace mlrun::util {

template <typename T>
class HugePageAllocator {
 public:
  using value_type = T;

  HugePageAllocator() = default;
  template <typename U>
  HugePageAllocator(const HugePageAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    const bool large = bytes >= 2 * kHugeBytes;
    const size_t align = large ? kHugeBytes : alignof(std::max_align_t);
    void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
    if (memory == nullptr) throw std::bad_alloc();
    if (large) ::madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }

  static void trim() {}

  bool operator==(const HugePageAllocator&) const = default;

 private:
  static constexpr size_t kHugeBytes = size_t{2} << 20;
};

}  // namespace mlrun::util
