// SPDX-License-Identifier: Apache-2.0
// How this library reads memory behind the program's pointers. program_memory.md lists all such reads.
//
// A plain load is safe only if the kernel, or libc with loads of its own, has just read the same bytes. Everything else
// goes through copy_from_program(), which cannot fault. The outcome of a call shows whether the kernel has read its
// argument:
//
//   success                 it has, unless a seccomp filter answers instead
//   ENOENT of a lookup      it has: the name is copied before the lookup
//   any other error         unknown
//
// Even then the bytes may be gone: a signal handler or another thread may unmap them before or after the call returns.
// So a plain load also needs a quiet call: brief, without a record of this thread in between, and without a mapping
// change in the process. A process that has once passed an unreadable pointer gets no plain loads any more.
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/core/thread_state.h"

#pragma GCC visibility push(hidden)

enum distrust {
  kPointersAreBad = 1,  // the program has passed an unreadable pointer
  kFilterAnswers = 2    // for each seccomp filter of its own that may return success, or ENOENT, without a call
};
extern uint32_t distrust;  // sum of enum distrust
// Calls of the process that change mappings: those that have begun, and those that have returned.
extern uint32_t memory_changes, memory_changes_done;

enum { kBriefTicks = 1 << 16 };  // of either clock: 20 to 65 us

// A call that unmaps memory or makes it unreadable stands between these two.
INLINE void begin_memory_change(void) { __atomic_fetch_add(&memory_changes, 1, __ATOMIC_RELAXED); }
INLINE void end_memory_change(void) { __atomic_fetch_add(&memory_changes_done, 1, __ATOMIC_RELEASE); }

// In a forked child: the parent's other threads, which may have been changing mappings, are not there.
INLINE void forget_memory_changes(void) { memory_changes_done = memory_changes; }

// Another value whenever this thread records something, and whenever a mapping of the process changes. 0: one is changing.
INLINE uint64_t memory_watch(void) {
  uint32_t done = __atomic_load_n(&memory_changes_done, __ATOMIC_ACQUIRE);
  uint32_t begun = __atomic_load_n(&memory_changes, __ATOMIC_RELAXED);
  return unlikely(begun != done) ? 0 : this_thread.cursor + begun + 1;
}

// Whether the memory that a call read is unchanged since `watch`, as far as is known.
INLINE bool call_was_quiet(uint64_t watch, uint64_t ticks) {
  return likely(watch) && watch == memory_watch() && ticks < kBriefTicks;
}

// Whether the outcome is the kernel's own, after it read the arguments. result: below 0 on failure.
INLINE bool success_is_proof(int64_t result) {
  if (likely(!distrust)) return result >= 0;
  return !(distrust & kPointersAreBad) && (distrust >= kFilterAnswers ? result > 0 : result >= 0);
}

INLINE bool look_up_is_proof(int64_t result, int error) {
  return error ? error == ENOENT && !distrust : success_is_proof(result);
}

// The program has passed an unreadable pointer.
void distrust_pointers(void);

// by 1: counts a filter of the program, before it is installed. by -1: takes it back, after the installation has failed.
struct filter_verdict;
void count_filter(const struct filter_verdict *verdict, int by);

// At load: finds the end of the main thread's stack, where the kernel has put arguments and environment.
void remember_initial_stack(char *const *arguments, char *const *environment);

// How many of the `bytes` bytes at `from` are on the main thread's stack, if the caller runs on it: a plain load may read
// them. Else 0.
size_t bytes_on_stack(uintptr_t from, size_t bytes);

// Whether the kernel may be asked if memory can be read (readable.h): always, except under some filters.
bool may_ask_for_memory(void);

// Copies `bytes` bytes from anywhere, up to the first unreadable page. Returns the number copied. If the kernel may not
// be asked, only the main thread's own stack is copied. Any thread, any signal handler, any stack; leaves errno alone.
size_t copy_from_program(void *to, const void *from, size_t bytes);

// The same, all or nothing. proven: success_is_proof() of a call that has just returned.
bool read_from_program(void *to, const void *from, size_t bytes, bool proven);

// A string of at most `most` bytes, without its end, into `to`. False: no readable terminator within that size.
bool copy_string_from_program(char *to, const char *from, size_t most, size_t *bytes);

#pragma GCC visibility pop
