// SPDX-License-Identifier: Apache-2.0
// Prefetches cache lines. Does not use __builtin_prefetch: g++ takes a function that contains only that as free of effects
// and drops its calls.
#pragma once

#include <cstddef>

namespace mlrun::util {

inline constexpr size_t kCacheLineBytes = 64;

// Prefetches the cache line at `address`; an invalid address does no harm.
inline void prefetch(const void* address) { asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(address))); }

// Prefetches all cache lines of an object.
template <typename T>
void prefetch_whole(const T& object) {
  const char* bytes = reinterpret_cast<const char*>(&object);
  for (size_t at = 0; at < sizeof object; at += kCacheLineBytes) prefetch(bytes + at);
  prefetch(bytes + sizeof object - 1);
}

}  // namespace mlrun::util
