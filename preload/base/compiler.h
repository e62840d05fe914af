// SPDX-License-Identifier: Apache-2.0
// Compiler attributes and instructions for code that runs inside other programs.
#pragma once

#include <linux/types.h>
#include <stdint.h>

#define EXPORT   __attribute__((visibility("default")))  // a hook; everything else in this library is hidden
#define COLD     __attribute__((noinline, cold))
#define HOT      __attribute__((section("mlrun_hot")))    // data of allocations and stacks: cache lines of its own
#define HOT_CALL __attribute__((section("mlrun_calls")))  // data of every call: one cache line, as gcc and ld place it
#define INLINE   static inline __attribute__((always_inline))

INLINE _Bool likely(_Bool condition) { return __builtin_expect(condition, 1); }
INLINE _Bool unlikely(_Bool condition) { return __builtin_expect(condition, 0); }

INLINE void compiler_barrier(void) { __asm__ volatile("" ::: "memory"); }

// These are atomic against signal handlers of the same thread, not against other threads: one instruction each,
// without the lock prefix.
INLINE uint64_t fetch_add_local(uint64_t *word, uint64_t by) {
  __asm__ volatile("xaddq %0,%1" : "+r"(by), "+m"(*word)::"memory", "cc");
  return by;
}
INLINE _Bool replace_local(uint64_t *word, uint64_t old, uint64_t fresh) {
  _Bool done;
  __asm__ volatile("cmpxchgq %3,%1; sete %0" : "=q"(done), "+m"(*word), "+a"(old) : "r"(fresh) : "memory", "cc");
  return done;
}
INLINE void add_local(__u64 *word, uint64_t by) {
  __asm__ volatile("addq %1,%0" : "+m"(*word) : "er"(by) : "memory", "cc");
}
INLINE void count_local(__u64 *word) { __asm__ volatile("incq %0" : "+m"(*word)::"memory", "cc"); }
