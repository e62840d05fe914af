// SPDX-License-Identifier: Apache-2.0
// How this library reads what a pointer of the program leads to. The table of all such reads is program_memory.md.
//
// A plain load is right only where the kernel, or libc with loads of its own, has read the same bytes a moment ago. Everything else
// goes through copy_from_program(), which cannot fault. The outcome of a call tells whether the kernel has read its argument:
//
//   success                 it has, unless a seccomp filter answers in its place
//   ENOENT of a look-up     it has: the name is copied before anything can be looked up
//   any other error         unknown
//
// Even then the bytes may be gone: a signal handler or another thread unmaps them, before or after the call returns. So a plain
// load also needs a quiet call: brief, with no record of this thread's in between, and no mapping changed in the process. A
// process that has once passed a pointer that cannot be read gets no plain loads any more.
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/core/thread_state.h"

#pragma GCC visibility push(hidden)

enum distrust {
  kPointersAreBad = 1,  // the program has passed one that cannot be read
  kFilterAnswers = 2,   // a seccomp filter of its own may say success, or ENOENT, without a call
  kFilterForbids = 4    // and memory may not be asked for under it
};
extern uint8_t distrust;         // bits of enum distrust
extern uint32_t memory_changes;  // calls of the process that change what is mapped

enum { kBriefTicks = 1 << 16 };  // of either clock: 20 to 65 us

// To be called before a call that unmaps memory, or takes away the right to read it.
INLINE void note_memory_change(void) { __atomic_fetch_add(&memory_changes, 1, __ATOMIC_RELAXED); }

// Changes whenever this thread records something, and whenever a mapping of the process changes.
INLINE uint64_t memory_watch(void) { return this_thread.cursor + __atomic_load_n(&memory_changes, __ATOMIC_RELAXED); }

// Whether a call that began at `watch` left the memory that it read alone, as far as is known.
INLINE bool call_was_quiet(uint64_t watch, uint64_t ticks) { return watch == memory_watch() && ticks < kBriefTicks; }

// Whether the outcome of a call is the kernel's, which has read what the call was given. result: below 0 on failure.
INLINE bool success_is_proof(int64_t result) {
  if (likely(!distrust)) return result >= 0;
  return !(distrust & kPointersAreBad) && (distrust & kFilterAnswers ? result > 0 : result >= 0);
}

INLINE bool look_up_is_proof(int64_t result, int error) {
  return error ? error == ENOENT && !(distrust & (kPointersAreBad | kFilterAnswers)) : success_is_proof(result);
}

// The program has passed a pointer that cannot be read.
void distrust_pointers(void);

// A filter of the program's own is being installed.
struct filter_verdict;
void follow_filter(const struct filter_verdict *verdict);

// At load: how far the main thread's stack goes, where the kernel has put arguments and environment.
void remember_initial_stack(char *const *arguments, char *const *environment);

// How many of the bytes from there on lie on the main thread's stack, if that is the caller's: a plain load may read them.
size_t bytes_on_stack(uintptr_t from, size_t bytes);

// Whether the kernel may be asked if memory can be read (readable.h): always, but for some filters.
bool may_ask_for_memory(void);

// Copies `bytes` bytes from anywhere, up to the first page that cannot be read. Returns how many. Where the kernel may not be
// asked: none, but from the stack of the main thread, if that is the caller's. Any thread, any signal handler, any stack; errno is left alone.
size_t copy_from_program(void *to, const void *from, size_t bytes);

// The same for all or nothing. proven: by success_is_proof() of a call that is just over.
bool read_from_program(void *to, const void *from, size_t bytes, bool proven);

// A string of at most `most` bytes, without its end, into `to`. False: it has no readable end before that many.
bool copy_string_from_program(char *to, const char *from, size_t most, size_t *bytes);

#pragma GCC visibility pop
