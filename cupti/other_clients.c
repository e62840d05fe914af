// SPDX-License-Identifier: Apache-2.0
#include "cupti/other_clients.h"

#include "cupti/cupti_abi.h"
#include "cupti/gpu_record.h"
#include "cupti/kinds.h"
#include "cupti/other_client_state.h"
#include "cupti/other_clock.h"
#include "cupti/session.h"
#include "preload/base/raw_syscall.h"

static const uint64_t kQuietNs = 1000000000, kNeverFetchesNs = 3 * kQuietNs;
static const long kStepNs = 1000000;
enum { kLockSteps = 1000, kFlusherSteps = 200 };

struct other_client other;
static uint32_t holder;    // tid of the thread that changes `other`
static uint32_t in_cupti;  // 1: the flusher's thread is in a function of CUPTI
static int32_t lent;       // number of the tool's buffers that CUPTI has

bool cupti_is_taken(void) { return __atomic_load_n(&other.owner, __ATOMIC_ACQUIRE) != kOurs; }

static void pause_shortly(void) {
  struct {
    long s, ns;
  } time = {0, kStepNs};
  raw_syscall2(SYS_nanosleep, (long)&time, 0);
}

static bool try_lock(uint32_t tid) {
  uint32_t free_holder = 0;
  return __atomic_compare_exchange_n(&holder, &free_holder, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

enum entry enter_other(void) {
  if (!session_is_ours()) return kPassOn;
  uint32_t tid = (uint32_t)raw_syscall0(SYS_gettid);
  if (__atomic_load_n(&holder, __ATOMIC_RELAXED) == tid) return kPassOn;  // a call by CUPTI itself, or by us
  enum entry entry = kLocked;
  for (int i = 0; entry == kLocked && !try_lock(tid); i++) {
    // Gives up after a second: this thread may hold a lock of CUPTI for which the holder of ours waits.
    if (i >= kLockSteps) entry = kUnlocked;
    pause_shortly();
  }
  other.last_call_ns = session.producer->monotonic_ns();
  return entry;
}

void leave_other(enum entry entry) {
  if (entry == kLocked) __atomic_store_n(&holder, 0, __ATOMIC_RELEASE);
}

// Our kinds go off before the flush: otherwise CUPTI could write records into a buffer that the flush does not return.
void hand_cupti_over(void) {
  if (cupti_is_taken()) return;
  switch_kinds_off(other.kinds);
  session.cupti.flush_all(CUPTI_FLUSH_FORCED);
  other.taken_ns = session.producer->monotonic_ns();
  put_note_span(MLRUN_GPU_TAKEN, 0, other.taken_ns, 0);
  __atomic_store_n(&other.owner, kTheirs, __ATOMIC_RELEASE);
}

// Whether our recording may resume. Not with MLRUN_STREAM_GPU_GRAPHS (a record for each graph launch): CUPTI does not
// document what switching that kind on does to graphs that already exist.
static bool may_come_back(void) {
  return __atomic_load_n(&other.owner, __ATOMIC_ACQUIRE) == kTheirs && !other.kinds &&
         !(session.producer->streams() & MLRUN_STREAM_GPU_GRAPHS);
}

static uint64_t quiet_ns(void) { return session.producer->monotonic_ns() - other.last_call_ns; }

// Whether the tool has all its records and buffers. A flush may leave buffers with CUPTI: records of ours in a buffer
// of the tool would be lost to us, and read by the tool.
static bool is_all_fetched(void) { return !other.is_unfetched && __atomic_load_n(&lent, __ATOMIC_ACQUIRE) == 0; }

// Flushes on behalf of the tool: records go to its callbacks. PyTorch's profiler does not flush if CUPTI has none of
// its buffers. Not a forced flush, which would return records of unfinished work.
static void fetch_for_tool(void) {
  session.cupti.flush_all(0);
  other.is_unfetched = false;
}

static void take_cupti_back(void) {
  const char *refused;
  want_thread_buffers();
  sample_other_clock();
  __atomic_store_n(&other.owner, kOurs, __ATOMIC_RELEASE);
  int answer = switch_kinds_on(&refused);
  if (cupti_is_taken()) {
    switch_kinds_off(other.kinds);  // the tool took CUPTI meanwhile, without waiting for the lock (kUnlocked)
    return;
  }
  if (answer == CUPTI_OK) {
    put_note_span(MLRUN_GPU_TAKEN, 0, other.taken_ns, session.producer->monotonic_ns());
    return;
  }
  switch_kinds_off(0);
  session.cupti.flush_all(CUPTI_FLUSH_FORCED);  // makes CUPTI return our buffers
  __atomic_store_n(&other.owner, kTheirsForGood, __ATOMIC_RELEASE);
}

void take_cupti_back_if_due(void) {
  if (!cupti_is_taken() || !try_lock((uint32_t)raw_syscall0(SYS_gettid))) return;
  if (may_come_back()) {
    if (!is_all_fetched() && !other.is_elsewhere && quiet_ns() >= kNeverFetchesNs) fetch_for_tool();
    if (is_all_fetched() && quiet_ns() >= kQuietNs) take_cupti_back();
  }
  leave_other(kLocked);
}

void keep_other_clock(void) {
  if (!try_lock((uint32_t)raw_syscall0(SYS_gettid))) return;
  if (!cupti_is_taken()) sample_other_clock();
  leave_other(kLocked);
}

bool request_buffer_of_other(uint8_t **buffer, size_t *bytes, size_t *max_records) {
  if (!cupti_is_taken() || !other.request) return false;
  other.request(buffer, bytes, max_records);
  if (*buffer) __atomic_add_fetch(&lent, 1, __ATOMIC_ACQ_REL);
  return true;
}

void give_buffer_to_other(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes) {
  __atomic_sub_fetch(&lent, 1, __ATOMIC_ACQ_REL);
  if (other.done) other.done(context, stream, buffer, bytes, valid_bytes);
}

bool enter_cupti(void) {
  __atomic_store_n(&in_cupti, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&other.owner, __ATOMIC_SEQ_CST) != kTheirsForGood) return true;
  leave_cupti();
  return false;
}

void leave_cupti(void) { __atomic_store_n(&in_cupti, 0, __ATOMIC_RELEASE); }

void lose_cupti_unseen(uint64_t since_ns) {
  put_note_span(MLRUN_GPU_TAKEN, MLRUN_TAKEN_UNSEEN, since_ns, 0);
  __atomic_store_n(&other.owner, kTheirsForGood, __ATOMIC_SEQ_CST);
}

void lose_cupti(void) {
  if (!cupti_is_taken()) put_note_span(MLRUN_GPU_TAKEN, 0, session.producer->monotonic_ns(), 0);
  __atomic_store_n(&other.owner, kTheirsForGood, __ATOMIC_SEQ_CST);
  for (int i = 0; i < kFlusherSteps && __atomic_load_n(&in_cupti, __ATOMIC_SEQ_CST); i++) pause_shortly();
}
