// SPDX-License-Identifier: Apache-2.0
#include "preload/core/program_memory.h"

#include <string.h>
#include <sys/uio.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/readable.h"
#include "preload/core/filter_answers.h"
#include "preload/core/recorder.h"

enum { kPageBytes = kReadablePageBytes, kPiecesAtOnce = 8 };

HOT_CALL uint32_t memory_changes, memory_changes_done;
HOT_CALL uint32_t distrust;

static uint32_t forbidding;  // filters that may forbid asking the kernel whether memory can be read (readable.h)

COLD void distrust_pointers(void) { __atomic_or_fetch(&distrust, kPointersAreBad, __ATOMIC_RELAXED); }

void count_filter(const struct filter_verdict *verdict, int by) {
  if (verdict->may_answer) __atomic_fetch_add(&distrust, (uint32_t)(by * kFilterAnswers), __ATOMIC_SEQ_CST);
  if (!verdict->allows_probe) __atomic_fetch_add(&forbidding, (uint32_t)by, __ATOMIC_SEQ_CST);
}

// The filter of a child that shares this memory is not counted.
bool may_ask_for_memory(void) {
  return recording_system_calls_allowed() || (!child_is_confined() && !__atomic_load_n(&forbidding, __ATOMIC_RELAXED));
}

static size_t rest_of_page(uintptr_t address) { return kPageBytes - address % kPageBytes; }

// Reads by process_vm_readv from the own process, which needs no privilege. It stops at the first range that it cannot
// read whole, so ranges are pages. -errno: nothing could be read.
static long copy_pieces(char *to, uintptr_t from, size_t bytes, long pid) {
  struct iovec pieces[kPiecesAtOnce], into = {to, 0};
  int count = 0;
  for (; bytes && count < kPiecesAtOnce; count++) {
    size_t piece = rest_of_page(from);
    if (piece > bytes) piece = bytes;
    pieces[count] = (struct iovec){(void *)from, piece};
    into.iov_len += piece;
    from += piece;
    bytes -= piece;
  }
  return raw_syscall(SYS_process_vm_readv, pid, (long)&into, 1, (long)pieces, count, 0);
}

// The fallback if the kernel lacks process_vm_readv, or a filter may forbid it: asks whether each page can be read, then
// reads it.
static size_t copy_asked(char *to, uintptr_t from, size_t bytes) {
  size_t done = 0;
  while (done < bytes && is_readable_word((from + done) & ~7ull)) {
    size_t piece = rest_of_page(from + done);
    if (piece > bytes - done) piece = bytes - done;
    memcpy(to + done, (const void *)(from + done), piece);
    done += piece;
  }
  return done;
}

static uintptr_t initial_stack_end;

COLD void remember_initial_stack(char *const *arguments, char *const *environment) {
  uintptr_t end = 0;
  char *const *const lists[] = {arguments, environment};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for (char *const *entry = lists[i]; entry && *entry; entry++) {
      uintptr_t behind = (uintptr_t)*entry + strlen(*entry) + 1;
      if (end < behind) end = behind;
    }
  initial_stack_end = end;
}

// Memory between the caller's frame and the end of its stack exists as long as the caller.
size_t bytes_on_stack(uintptr_t from, size_t bytes) {
  enum { kMostOfStack = 64 << 20 };  // within this distance below its end the kernel places no other mapping
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  bool is_main = frame < initial_stack_end && initial_stack_end - frame < kMostOfStack;
  if (!is_main || from < frame || from >= initial_stack_end) return 0;
  return bytes < initial_stack_end - from ? bytes : initial_stack_end - from;
}

static size_t copy_from_stack(char *to, uintptr_t from, size_t bytes) {
  size_t there = bytes_on_stack(from, bytes);
  memcpy(to, (const void *)from, there);
  return there;
}

COLD size_t copy_from_program(void *to, const void *from, size_t bytes) {
  if (!may_ask_for_memory()) return copy_from_stack(to, (uintptr_t)from, bytes);
  if (!recording_system_calls_allowed()) return copy_asked(to, (uintptr_t)from, bytes);
  long pid = raw_syscall0(SYS_getpid);
  size_t done = 0;
  while (done < bytes) {
    long copied = copy_pieces((char *)to + done, (uintptr_t)from + done, bytes - done, pid);
    if (copied == -ENOSYS || copied == -EPERM)
      return done + copy_asked((char *)to + done, (uintptr_t)from + done, bytes - done);
    if (copied <= 0) break;
    done += (size_t)copied;
  }
  return done;
}

bool read_from_program(void *to, const void *from, size_t bytes, bool proven) {
  if (!proven || distrust & kPointersAreBad) return copy_from_program(to, from, bytes) == bytes;
  memcpy(to, from, bytes);
  return true;
}

bool copy_string_from_program(char *to, const char *from, size_t most, size_t *bytes) {
  size_t copied = copy_from_program(to, from, most);
  *bytes = strnlen(to, copied);
  return copied && (*bytes < copied || copied == most);
}
