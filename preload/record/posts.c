// SPDX-License-Identifier: Apache-2.0
// The two words of a post may be written by several threads at once. Each clears `who` before it stores the time, and
// stores `who` after it. So a reader that finds a time within its wait, and the same `who` before and after reading it,
// has a `who` that was stored after the wait began: its thread was about to post.
#include "preload/record/posts.h"

#include "preload/core/recorder.h"
#include "preload/record/thread_name.h"

struct post_slot *post_slots;

static uint64_t who_of(uint32_t tid, uint64_t hash) {
  return (uint64_t)tid << 32 | (uint32_t)(hash >> (32 - kPostSlotBits));
}

COLD void mark_post(struct post_slot *slot, uint64_t hash) {
  uint64_t now = stamp();
  if (!now) return;
  uint32_t place = __atomic_fetch_add(&slot->posts, 1, __ATOMIC_RELAXED) % kPostsKept;
  struct post *post = &slot->latest[place];
  __atomic_store_n(&post->who, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&post->time, now, __ATOMIC_RELEASE);
  __atomic_store_n(&post->who, who_of(thread_of_caller(), hash), __ATOMIC_RELEASE);
}

COLD uint32_t poster_of(uintptr_t address, uint64_t start, uint64_t end) {
  if (!post_slots) return 0;
  uint64_t hash = post_hash(address), latest = 0;
  const struct post_slot *slot = post_slot_of(hash);
  uint32_t tid = 0;
  for (int i = 0; i < kPostsKept; i++) {
    const struct post *post = &slot->latest[i];
    uint64_t who = __atomic_load_n(&post->who, __ATOMIC_ACQUIRE);
    uint64_t time = __atomic_load_n(&post->time, __ATOMIC_ACQUIRE);
    bool is_ours = who && (uint32_t)who == (uint32_t)who_of(0, hash);
    if (!is_ours || time < start || time > end || time < latest) continue;
    if (__atomic_load_n(&post->who, __ATOMIC_RELAXED) != who) continue;
    latest = time;
    tid = (uint32_t)(who >> 32);
  }
  return tid;
}

bool is_known_within_process(uintptr_t address) {
  uint64_t hash = post_hash(address);
  return post_slots && __atomic_load_n(&post_slot_of(hash)->within_process, __ATOMIC_RELAXED) == hash;
}

void note_within_process(uintptr_t address) {
  uint64_t hash = post_hash(address);
  if (post_slots) __atomic_store_n(&post_slot_of(hash)->within_process, hash, __ATOMIC_RELAXED);
}
