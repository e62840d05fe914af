// SPDX-License-Identifier: Apache-2.0
// Channels of threads. Their descriptors are slots of descriptor segments (arena.h), which all processes of the session
// share; a slot goes FREE -> CLAIMED -> LIVE here; the collector frees it after its thread ended.
//
// A signal handler that interrupts a registration registers the thread a second time, under another descriptor; both
// end with the thread. A handler that jumps out leaves a claimed slot behind, which is not used again.
#include "preload/record/channel.h"

#include <string.h>
#include <unistd.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/real_function.h"
#include "preload/base/test_point.h"
#include "preload/core/alloc_state.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/record/dropped_kind.h"
#include "preload/record/library_record.h"
#include "preload/record/process_record.h"
#include "preload/record/robust_list.h"
#include "preload/record/segments.h"
#include "preload/record/stack_record.h"

enum { kSlotsPerSegment = 16 };  // slot 0 belongs to the segment's header

__thread struct thread_state this_thread __attribute__((tls_model("initial-exec"))) = {.cursor = NO_SEGMENT};

// What each call that may take the clock away adds to `generation`, which is then none of enum mlrun_state. Threads only
// add and subtract, because several may make such calls at once.
enum { kWithoutClock = 4 };

static uint32_t last_claimed;  // descriptor id: where this process searches first
static uint32_t clock_losses;  // such calls that have succeeded or are being made; a forked child inherits them

static struct mlrun_channel *channel_at(uint32_t id) {
  return (struct mlrun_channel *)(segment_start(id / kSlotsPerSegment) + id % kSlotsPerSegment * MLRUN_CHANNEL_BYTES);
}

static bool claim_slot(uint32_t id) {
  uint32_t *state = &channel_at(id)->state, expected = MLRUN_CHANNEL_FREE;
  return __atomic_load_n(state, __ATOMIC_RELAXED) == MLRUN_CHANNEL_FREE &&
         __atomic_compare_exchange_n(state, &expected, MLRUN_CHANNEL_CLAIMED, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

// A free slot of a descriptor segment, searched from `first_slot`. 0: none (slot 0 is never one).
static uint32_t claim_in_segment(uint32_t segment, uint32_t first_slot) {
  for (uint32_t i = 0; i < MLRUN_CHANNELS_PER_SEGMENT; i++) {
    uint32_t id = segment * kSlotsPerSegment + 1 + (first_slot + i) % MLRUN_CHANNELS_PER_SEGMENT;
    if (claim_slot(id)) return id;
  }
  return 0;
}

static bool holds_descriptors(uint32_t segment) {
  return (__atomic_load_n(&process.owner[segment], __ATOMIC_ACQUIRE) & MLRUN_OWNER_MASK) == MLRUN_OWNER_DESCRIPTORS;
}

static uint32_t claim_in_existing_segment(void) {
  uint32_t high = __atomic_load_n(&control->segment_high, __ATOMIC_ACQUIRE), id = 0;
  if (high > process.segment_count) high = process.segment_count;
  for (uint32_t i = 0; i < high && !id; i++)
    if (holds_descriptors(i)) id = claim_in_segment(i, 0);
  return id;
}

// Lap 1 means that the segment is all zeros: new in the file, or zeroed by the collector when its lap wrapped.
static uint32_t become_descriptor_segment(uint64_t claimed) {
  uint32_t segment = claimed_segment(claimed), lap = claimed_lap(claimed), id = segment * kSlotsPerSegment + 1;
  if (lap != 1) memset(segment_start(segment), 0, MLRUN_SEGMENT_BYTES);
  channel_at(id)->state = MLRUN_CHANNEL_CLAIMED;
  __atomic_store_n(&process.owner[segment], lap << 24 | MLRUN_OWNER_DESCRIPTORS, __ATOMIC_RELEASE);
  return id;
}

// Descriptor segments are never released, so no more than needed are made: many threads may get here at the same time.
static uint32_t claim_in_new_segment(void) {
  uint64_t claimed = try_claim_segment(MLRUN_OWNER_PREPARING);
  if (!claimed) return 0;
  uint32_t id = claim_in_existing_segment();
  if (!id) return become_descriptor_segment(claimed);
  give_back_segment(claimed);
  return id;
}

static uint32_t try_claim_descriptor(void) {
  uint32_t id = last_claimed;
  if (id) id = claim_in_segment(id / kSlotsPerSegment, id % kSlotsPerSegment);
  if (!id) id = claim_in_existing_segment();
  if (!id) id = claim_in_new_segment();
  if (id) last_claimed = id;
  return id;
}

static uint32_t claim_descriptor(void) {
  struct patience patience = {0};
  for (;;) {
    begin_attempt(&patience);
    uint32_t id = try_claim_descriptor();
    if (id || !wait_for_segment(&patience)) return id;
  }
}

bool register_thread(uint32_t kind) {
  uint32_t id = claim_descriptor();
  if (!id) {
    count_failure(MLRUN_FAIL_NO_CHANNEL);
    __atomic_add_fetch(&control->without_channel[dropped_kind(kind)], 1, __ATOMIC_RELAXED);
    return false;
  }
  struct mlrun_channel *channel = channel_at(id);
  if (!this_thread.tid) this_thread.tid = thread_number();
  channel->pid = process.pid;
  channel->tid = this_thread.tid;
  channel->process = process.wiped->process_number;
  channel->image = process.image;
  channel->pid_namespace = process.pid_namespace;
  channel->serial = __atomic_add_fetch(&control->next_channel, 1, __ATOMIC_RELAXED);
  test_point(1);
  robust_list_hold(channel, this_thread.tid);
  test_point(2);
  __atomic_store_n(&channel->state, MLRUN_CHANNEL_LIVE, __ATOMIC_RELEASE);
  this_thread.channel_id = id;
  test_point(3);
  this_thread.channel = channel;
  return true;
}

// A signal handler that interrupts after_fork calls this function too: the number that was stored first is kept.
static void take_process_number(void) {
  uint32_t fresh = __atomic_add_fetch(&control->next_process, 1, __ATOMIC_RELAXED), none = 0;
  __atomic_compare_exchange_n(&process.wiped->process_number, &none, fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void after_fork(void) {
  uint32_t tid_in_parent = this_thread.tid;
  this_thread.cursor = NO_SEGMENT;
  this_thread.channel = 0;
  this_thread.spare_segment = 0;
  this_thread.open_file_numbers = 0;  // its parent continues to use them
  this_thread.vfork_depth = 0;
  forget_memory_changes();
  this_thread.sampler.random = 0;  // else it would pick the same blocks as its parent
  compiler_barrier();
  this_thread.tid = thread_number_after_fork(tid_in_parent, recording_system_calls_allowed());
  if (process.pid != this_thread.tid) process.parent_pid = process.pid;
  process.pid = this_thread.tid;  // the only thread of a forked child is its leader
  process.forked = true;
  if (recording_system_calls_allowed() && raw_syscall0(SYS_getppid) == 0) process_record_enter_namespace();
  take_process_number();
  stacks_after_fork();
  alloc_state_after_fork();
  if (recording_system_calls_allowed()) libraries_after_fork();
  uint32_t losses = __atomic_load_n(&clock_losses, __ATOMIC_RELAXED);
  __atomic_store_n(&process.wiped->generation, MLRUN_RUN + losses * kWithoutClock, __ATOMIC_RELEASE);
}

static bool is_fresh_fork(void) { return process.arena && !process.wiped->generation; }

bool may_record(void) {
  if (is_fresh_fork()) after_fork();
  if (!process.arena) attach(__environ);
  return *generation == MLRUN_RUN && control->state == MLRUN_RUN && !in_vfork_child();
}

uint64_t stamp_slow(void) { return may_record() ? now_ticks() : 0; }

// Calls libc's clock_gettime, because another library may have replaced it to show the program another time.
uint64_t monotonic_ns(void) {
  LIBC(int, clock_gettime, clockid_t, struct timespec *);
  struct timespec now;
  libc_clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void count_failure(enum mlrun_failure failure) { __atomic_add_fetch(&control->failures[failure], 1, __ATOMIC_RELAXED); }

bool recording_is_on(void) {
  if (is_fresh_fork()) after_fork();
  return *generation == MLRUN_RUN;
}

void give_up_clock(void) {
  __atomic_fetch_add(&clock_losses, 1, __ATOMIC_SEQ_CST);
  if (process.arena) __atomic_fetch_add(&process.wiped->generation, kWithoutClock, __ATOMIC_SEQ_CST);
}

void get_clock_back(void) {
  if (is_fresh_fork()) after_fork();  // a signal handler has forked in the program's call
  if (process.arena) __atomic_fetch_sub(&process.wiped->generation, kWithoutClock, __ATOMIC_SEQ_CST);
  __atomic_fetch_sub(&clock_losses, 1, __ATOMIC_SEQ_CST);
}
