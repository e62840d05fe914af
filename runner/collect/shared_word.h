// SPDX-License-Identifier: Apache-2.0
// Access to arena words that other processes write concurrently.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace mlrun::collect {

template <typename T>
T load(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}
template <typename T>
void store(T& word, T value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}
template <typename T>
void add(T& word, T value) {
  __atomic_fetch_add(&word, value, __ATOMIC_ACQ_REL);
}

// Sleeps while `word` is `expected`, at most `limit_ns`; a signal ends it.
inline void futex_wait(uint32_t& word, uint32_t expected, uint64_t limit_ns) {
  const timespec limit{static_cast<time_t>(limit_ns / 1'000'000'000), static_cast<long>(limit_ns % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}
inline void futex_wake_all(uint32_t& word) { syscall(SYS_futex, &word, FUTEX_WAKE, 1 << 30, nullptr, nullptr, 0); }

}  // namespace mlrun::collect
