// SPDX-License-Identifier: Apache-2.0
#include "cupti/buffers.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "cupti/other_clients.h"
#include "cupti/record_reader.h"
#include "cupti/session.h"
#include "preload/raw_syscall.h"

enum { kBufferBytes = 1 << 20, kKept = 32, kOutMax = 128, kSpareBytes = 256 << 10 };

static uint8_t *kept[kKept];
static int32_t out;             // buffers that CUPTI has, or that are kept
static uint8_t *made[kOutMax];  // all of them
// What a CUPTI gets that crashes without a buffer, when there is no memory. Nobody reads it.
static uint8_t spare[kSpareBytes] __attribute__((aligned(4096)));

static uint8_t *take_kept(void) {
  for (int i = 0; i < kKept; i++) {
    uint8_t *buffer = __atomic_load_n(&kept[i], __ATOMIC_RELAXED);
    if (buffer && __atomic_compare_exchange_n(&kept[i], &buffer, NULL, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return buffer;
  }
  return NULL;
}

static bool replace_made(uint8_t *old, uint8_t *fresh) {
  for (int i = 0; i < kOutMax; i++) {
    uint8_t *expected = old;
    if (__atomic_compare_exchange_n(&made[i], &expected, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return true;
  }
  return false;
}

static bool is_made_here(const uint8_t *buffer) {
  for (int i = 0; i < kOutMax; i++)
    if (__atomic_load_n(&made[i], __ATOMIC_ACQUIRE) == buffer) return true;
  return buffer == spare;
}

static uint8_t *make_buffer(void) {
  if (!session.producer->may_call_kernel()) return NULL;
  if (__atomic_add_fetch(&out, 1, __ATOMIC_RELAXED) <= kOutMax) {
    long fresh = raw_syscall(SYS_mmap, 0, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((fresh > 0 || fresh < -4096) && replace_made(NULL, (uint8_t *)fresh)) return (uint8_t *)fresh;
  }
  __atomic_sub_fetch(&out, 1, __ATOMIC_RELAXED);
  return NULL;
}

void request_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records) {
  if (request_buffer_of_other(buffer, bytes, max_records)) return;
  uint8_t *found = take_kept();
  if (!found) found = make_buffer();
  *max_records = 0;
  *buffer = found;
  *bytes = found ? kBufferBytes : 0;
  if (found || session.version >= kCuptiNullBuffer) return;
  *buffer = spare;
  *bytes = kSpareBytes;
}

static void keep_or_free(uint8_t *buffer) {
  long forgotten = raw_syscall3(SYS_madvise, (long)buffer, kBufferBytes, MADV_DONTNEED);
  for (int i = 0; !forgotten && i < kKept; i++) {
    uint8_t *none = NULL;
    if (__atomic_compare_exchange_n(&kept[i], &none, buffer, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return;
  }
  replace_made(buffer, NULL);
  raw_syscall2(SYS_munmap, (long)buffer, kBufferBytes);
  __atomic_sub_fetch(&out, 1, __ATOMIC_RELAXED);
}

void buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes) {
  if (buffer && !is_made_here(buffer)) {
    give_buffer_to_other(context, stream, buffer, bytes, valid_bytes);
    return;
  }
  if (!buffer || !session_is_ours()) return;
  if (buffer == spare) {
    count_unread(valid_bytes);
    return;
  }
  read_records(context, stream, buffer, valid_bytes);
  keep_or_free(buffer);
}
