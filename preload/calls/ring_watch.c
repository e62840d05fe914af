// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/ring_watch.h"

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/readable.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/record/channel.h"

enum { kRings = 16, kOperations = 64, kEntryBytes = 64 };
// IORING_SETUP_NO_SQARRAY, IORING_SETUP_NO_MMAP and IORING_ENTER_REGISTERED_RING, which older headers lack.
enum { kNoArray = 1 << 16, kNoMapping = 1 << 14, kEnterRegistered = 1 << 4 };

struct ring {
  uint32_t number;  // descriptor + 1; 0: no ring
  uint32_t flags, mask, head_at, array_at;
  uint64_t words, entries;  // addresses; 0: not mapped
  uint64_t reported;        // bit set of the operations that MLRUN_RING has reported
  bool is_unknown;
};

bool rings_are_there;
static struct ring rings[kRings];
static uint32_t ring_count;

static void put(uint32_t fd, uint64_t what, uint64_t operation) {
  uint8_t lap;
  if (!stamp()) return;
  uint64_t *w = reserve(2 * MLRUN_UNIT_BYTES, MLRUN_RING, &lap);
  if (!w) return;
  w[1] = now_ticks();
  w[2] = what << 8 | operation << 16;
  w[3] = 0;
  publish(w, lap, 2, MLRUN_RING, fd);
}

static void give_up(struct ring *ring) {
  if (!__atomic_exchange_n(&ring->is_unknown, true, __ATOMIC_RELAXED)) put(ring->number - 1, MLRUN_RING_UNKNOWN, 0);
}

static struct ring *find(long fd) {
  for (uint32_t i = 0; i < kRings; i++)
    if (rings[i].number == (uint32_t)fd + 1) return &rings[i];
  return NULL;
}

// The table entry for a new ring: that of a closed ring with the same descriptor, or a free one. Null: the table is full.
static struct ring *place_for(uint32_t fd) {
  struct ring *ring = find(fd);
  if (ring) {
    *ring = (struct ring){0};
    return ring;
  }
  uint32_t place = __atomic_fetch_add(&ring_count, 1, __ATOMIC_RELAXED);
  if (place < kRings) return &rings[place];
  __atomic_store_n(&ring_count, kRings, __ATOMIC_RELAXED);
  return NULL;
}

static void note_made(uint32_t fd, const struct io_uring_params *parameters) {
  put(fd, MLRUN_RING_MADE, 0);
  struct ring *ring = place_for(fd);
  if (!ring) {
    put(fd, MLRUN_RING_UNKNOWN, 0);
    return;
  }
  ring->flags = parameters->flags;
  ring->mask = parameters->sq_entries - 1;
  ring->head_at = parameters->sq_off.head;
  ring->array_at = parameters->sq_off.array;
  __atomic_store_n(&ring->number, fd + 1, __ATOMIC_RELEASE);
  __atomic_store_n(&rings_are_there, true, __ATOMIC_RELEASE);
  if (parameters->flags & (IORING_SETUP_SQPOLL | kNoMapping)) give_up(ring);
}

COLD long traced_ring_setup(syscall_function real, long entries, long parameters) {
  long ring = real(SYS_io_uring_setup, entries, parameters);
  if (ring < 0) return ring;
  uint64_t last = (uint64_t)parameters + sizeof(struct io_uring_params) - 8;
  bool readable =
      process.arena && may_ask_for_memory() && is_readable_word((uint64_t)parameters) && is_readable_word(last);
  if (readable)
    note_made((uint32_t)ring, (const struct io_uring_params *)parameters);
  else
    put((uint32_t)ring, MLRUN_RING_UNKNOWN, 0);
  return ring;
}

COLD void note_ring_mapped(int fd, uint64_t offset, uint64_t address) {
  struct ring *ring = find(fd);
  if (!ring) return;
  if (offset == IORING_OFF_SQ_RING) ring->words = address;
  if (offset == IORING_OFF_SQES) ring->entries = address;
}

// Reads a word of a ring. False: it cannot be read, because the program has unmapped the ring.
static bool read_word(uint64_t address, uint32_t *word) {
  if (!is_readable_word(address & ~7ull)) return false;
  *word = __atomic_load_n((const uint32_t *)address, __ATOMIC_RELAXED);
  return true;
}

// Reports the operation of one submission queue entry, if it is the ring's first of its kind. False: it cannot be read.
static bool report_entry(struct ring *ring, uint32_t at) {
  uint32_t index = at & ring->mask, first;
  if (!(ring->flags & kNoArray) && !read_word(ring->words + ring->array_at + 4ull * index, &index)) return false;
  if (index > ring->mask) return true;  // the kernel drops it
  uint64_t bytes = ring->flags & IORING_SETUP_SQE128 ? 2 * kEntryBytes : kEntryBytes;
  if (!read_word(ring->entries + bytes * index, &first)) return false;
  uint32_t operation = first & 0xff;
  uint64_t bit = 1ull << (operation < kOperations ? operation : kOperations - 1);
  if (__atomic_fetch_or(&ring->reported, bit, __ATOMIC_RELAXED) & bit) return true;
  put(ring->number - 1, MLRUN_RING_USED, operation);
  return true;
}

COLD void note_ring_entered(long fd, long to_submit, long flags) {
  if (flags & kEnterRegistered) {  // `fd` is a registered index: it is unknown which ring it means
    for (uint32_t i = 0; i < kRings; i++)
      if (rings[i].number) give_up(&rings[i]);
    return;
  }
  struct ring *ring = find(fd);
  if (!ring || ring->is_unknown || to_submit <= 0) return;
  uint32_t head = 0;
  bool readable = ring->words && ring->entries && may_ask_for_memory() && read_word(ring->words + ring->head_at, &head);
  uint32_t count = (uint64_t)to_submit <= ring->mask ? (uint32_t)to_submit : ring->mask + 1;
  for (uint32_t i = 0; readable && i < count; i++) readable = report_entry(ring, head + i);
  if (!readable) give_up(ring);
}
