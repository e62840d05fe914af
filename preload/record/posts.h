// SPDX-License-Identifier: Apache-2.0
// Which thread ended a wait on a semaphore, a condition or a futex, without a record for each post:
//
//   waiter   counts itself in the slot of the address, waits, and takes the latest post on it into its own record
//   post     one load: the slot's number of waiters; if it is not 0, leaves its thread and the time there
//
// A post is marked before the real one, so the latest one since the wait began is by a thread that did post on that
// address meanwhile, or there is none. 32 more bits of the hash distinguish the addresses of one slot. Not seen:
// posts inside libc, posts by other processes, and posts whose thread read the number of waiters just before the waiter
// counted itself.
//
// The slots are in the pages that the kernel wipes in a forked child (channel.h): its counts begin at 0. A waiter that
// jumps out of its wait stays counted, which costs later posts some nanoseconds and nothing else.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

enum { kPostSlotBits = 12, kPostSlots = 1 << kPostSlotBits, kPostsKept = 3, kPostHashBits = 64 };

struct post {
  uint64_t who;   // thread << 32 | bits of the address's hash; 0: none, or being written
  uint64_t time;  // clock of the channels
};

// One cache line, so that no two slots share one.
struct post_slot {
  uint32_t waiters;
  uint32_t posts;  // number of posts marked so far, which gives the place of the next one in `latest`
  struct post latest[kPostsKept];
  uint64_t within_process;  // hash of an address that no other process can post on; 0: none
};
_Static_assert(sizeof(struct post_slot) == 64, "a cache line");
enum { kPostSlotsBytes = kPostSlots * sizeof(struct post_slot) };

// Null: not attached, or no room for them.
extern struct post_slot *post_slots;

INLINE uint64_t post_hash(uintptr_t address) { return (uint64_t)(address >> 2) * 0x9e3779b97f4a7c15u; }
INLINE struct post_slot *post_slot_of(uint64_t hash) { return &post_slots[hash >> (kPostHashBits - kPostSlotBits)]; }

void mark_post(struct post_slot *slot, uint64_t hash);

// Before a post on `object`. Any thread, any signal handler; leaves errno alone.
INLINE void note_post(const void *object) {
  if (unlikely(!post_slots)) return;
  uint64_t hash = post_hash((uintptr_t)object);
  struct post_slot *slot = post_slot_of(hash);
  if (unlikely(__atomic_load_n(&slot->waiters, __ATOMIC_RELAXED) != 0)) mark_post(slot, hash);
}

// Around a wait on `address`, while recording.
INLINE void count_waiter(uintptr_t address) {
  if (likely(post_slots)) __atomic_fetch_add(&post_slot_of(post_hash(address))->waiters, 1, __ATOMIC_SEQ_CST);
}

// The count does not go below 0: in a child that a signal handler forked inside a wait it is 0 when the wait ends.
INLINE void uncount_waiter(uintptr_t address) {
  if (unlikely(!post_slots)) return;
  uint32_t *waiters = &post_slot_of(post_hash(address))->waiters, count = __atomic_load_n(waiters, __ATOMIC_RELAXED);
  while (likely(count) &&
         !__atomic_compare_exchange_n(waiters, &count, count - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

// The thread of the latest post on `address` within these times; 0: unknown.
uint32_t poster_of(uintptr_t address, uint64_t start, uint64_t end);

// Whether an earlier wait has found that only this process posts on `address`; note_within_process() stores that it does.
bool is_known_within_process(uintptr_t address);
void note_within_process(uintptr_t address);

#pragma GCC visibility pop
