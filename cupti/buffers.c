// SPDX-License-Identifier: Apache-2.0
#include "cupti/buffers.h"

#include <stdbool.h>

#include "cupti/other_clients.h"
#include "cupti/record_reader.h"
#include "cupti/session.h"
#include "preload/base/raw_syscall.h"

enum { kBufferBytes = 1 << 20, kAlignment = 4096, kSpareBytes = 256 << 10 };
enum { kFutexWaitPrivate = 128, kAgain = 11, kFault = 14 };

// Where we keep a buffer. We never free it: after CUPTI has returned it, it waits here for its next use.
struct place {
  uint8_t *buffer;  // null: none was ever allocated here
  uint32_t turn;    // incremented when CUPTI gets the buffer and when it returns it; odd: CUPTI has it
};
static struct place places[kBuffersMax];
// Given to CUPTI when memory is exhausted, in versions that crash if they get no buffer. Records in it are not read.
static uint8_t spare[kSpareBytes] __attribute__((aligned(4096)));

static bool take(struct place *place) {
  uint32_t turn = __atomic_load_n(&place->turn, __ATOMIC_RELAXED);
  return turn % 2 == 0 &&
         __atomic_compare_exchange_n(&place->turn, &turn, turn + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void put_back(struct place *place) { __atomic_add_fetch(&place->turn, 1, __ATOMIC_RELEASE); }

static uint8_t *buffer_at(const struct place *place) { return __atomic_load_n(&place->buffer, __ATOMIC_ACQUIRE); }

// The place of a buffer that CUPTI has from us; null: CUPTI does not have this buffer from us.
static struct place *place_of(const uint8_t *buffer) {
  for (int i = 0; i < kBuffersMax; i++)
    if (buffer_at(&places[i]) == buffer && __atomic_load_n(&places[i].turn, __ATOMIC_ACQUIRE) % 2) return &places[i];
  return NULL;
}

// Called for a buffer that another client supplied, or that was just allocated. If we had one at the same address,
// another client has freed it. Its place is not used again: the turn stays odd.
static void forget(const uint8_t *buffer) {
  struct place *place = buffer ? place_of(buffer) : NULL;
  if (place) __atomic_store_n(&place->buffer, NULL, __ATOMIC_RELEASE);
}

static uint8_t *allocate(void) {
  union {
    void (*any)(void);
    int (*call)(void **, size_t, size_t);
  } aligned = {session.producer->function("posix_memalign")};
  void *fresh = NULL;
  if (!aligned.any || aligned.call(&fresh, kAlignment, kBufferBytes)) return NULL;
  forget(fresh);
  return fresh;
}

static uint8_t *find_buffer(void) {
  for (int i = 0; i < kBuffersMax; i++)
    if (buffer_at(&places[i]) && take(&places[i])) return places[i].buffer;
  if (!session.producer->may_call_kernel()) return NULL;
  for (int i = 0; i < kBuffersMax; i++) {
    if (buffer_at(&places[i]) || !take(&places[i])) continue;
    uint8_t *fresh = places[i].buffer ? places[i].buffer : allocate();
    if (!fresh) put_back(&places[i]);
    if (fresh) __atomic_store_n(&places[i].buffer, fresh, __ATOMIC_RELEASE);
    return fresh;
  }
  return NULL;
}

void request_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records) {
  if (request_buffer_of_other(buffer, bytes, max_records)) {
    forget(*buffer);
    return;
  }
  uint8_t *found = find_buffer();
  if (found) *(uint32_t *)found = 0;  // no record kind: content_of() finds it empty
  *max_records = 0;
  *buffer = found;
  *bytes = found ? kBufferBytes : 0;
  if (found || session.version >= kCuptiNullBuffer) return;
  *buffer = spare;
  *bytes = kSpareBytes;
}

void buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes) {
  struct place *place = buffer ? place_of(buffer) : NULL;
  if (buffer && !place && buffer != spare) {
    give_buffer_to_other(context, stream, buffer, bytes, valid_bytes);
    return;
  }
  if (!buffer || !session_is_ours()) return;
  if (!place) {
    count_unread(valid_bytes);
    return;
  }
  read_records(context, stream, buffer, valid_bytes);
  put_back(place);
}

enum content { kEmpty, kFilled, kGone };

// Whether the buffer's first word is 0 (no record yet). A read of ours could crash, as another client may have freed
// the memory; so the kernel reads the word, in a futex wait with timeout 0. EAGAIN means not 0; EFAULT, freed memory.
static enum content content_of(const uint8_t *buffer) {
  const struct { long s, ns; } no_time = {0, 0};
  long answer = raw_syscall4(SYS_futex, (long)buffer, kFutexWaitPrivate, 0, (long)&no_time);
  return answer == -kFault ? kGone : answer == -kAgain ? kFilled : kEmpty;
}

void look_at_filled_buffers(struct filled_buffers *filled) {
  for (int i = 0; i < kBuffersMax; i++) {
    uint32_t turn = __atomic_load_n(&places[i].turn, __ATOMIC_ACQUIRE);
    const uint8_t *buffer = turn % 2 ? buffer_at(&places[i]) : NULL;
    filled->turn[i] = buffer && content_of(buffer) != kEmpty ? turn : 0;
  }
}

struct unseen_buffers look_for_unseen_buffers(const struct filled_buffers *filled) {
  struct unseen_buffers unseen = {0};
  for (int i = 0; i < kBuffersMax; i++) {
    if (!filled->turn[i] || __atomic_load_n(&places[i].turn, __ATOMIC_ACQUIRE) != filled->turn[i]) continue;
    const uint8_t *buffer = buffer_at(&places[i]);
    unseen.kept++;
    unseen.freed += !buffer || content_of(buffer) == kGone;
  }
  return unseen;
}
