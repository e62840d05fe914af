// SPDX-License-Identifier: Apache-2.0
#include "cupti/flusher.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "cupti/buffers.h"
#include "cupti/gpu_record.h"
#include "cupti/graph_fold.h"
#include "cupti/kinds.h"
#include "cupti/other_clients.h"
#include "cupti/record_reader.h"
#include "cupti/session.h"
#include "preload/base/raw_syscall.h"

enum { kFutexWait = 0, kFutexWake = 1, kEveryone = 0x7fffffff };
enum { kSignalSetBytes = 8, kPeriodMs = 1000, kCancelSignal = 32, kSetIdSignal = 33 };
// How long the end of a process waits. _exit may be called because a thread hangs.
enum { kUrgentMs = 200, kQuietMs = 500, kExitMs = 5000, kStepMs = 20 };

static uint32_t asked, finished;  // flushes of everything
static uint32_t ending;           // this is the last flush
static uint32_t ended;            // CUDA ends: CUPTI must not be called any more
static uint64_t fetched_ns;       // all records finished at this time have been handed over

static void wait_word(const uint32_t *word, uint32_t value, long ms) {
  struct timespec timeout = {ms / 1000, ms % 1000 * 1000000};
  raw_syscall4(SYS_futex, (long)word, kFutexWait, value, (long)&timeout);
}
static void wake_word(const uint32_t *word) { raw_syscall3(SYS_futex, (long)word, kFutexWake, kEveryone); }

// A client that takes CUPTI's functions by dlsym bypasses ours: CUPTI hands it the buffers that it had filled for us.
// This is certain when the client has freed such a buffer, or at the end, when no unfinished work is left that CUPTI
// would keep. A buffer that does not come back is not counted as fetched. `now_ns`: all that was finished then is
// handed over on return.
static void flush_cupti(bool everything, uint64_t now_ns) {
  struct filled_buffers filled;
  look_at_filled_buffers(&filled);
  if (session.cupti.flush_all(everything ? CUPTI_FLUSH_FORCED : 0) != CUPTI_OK || cupti_is_taken()) return;
  struct unseen_buffers unseen = look_for_unseen_buffers(&filled);
  if (unseen.freed)
    lose_cupti_unseen(fetched_ns);
  else if (unseen.kept && everything)
    put_note_span(MLRUN_GPU_TAKEN, MLRUN_TAKEN_UNSEEN, fetched_ns, now_ns);
  else if (!unseen.kept)
    fetched_ns = now_ns;
}

static uint64_t earlier(uint64_t one, uint64_t other) { return one < other ? one : other; }

static void flush(bool everything) {
  uint64_t now_ns = session.producer->monotonic_ns();
  if (enter_cupti()) {
    if (!everything) take_cupti_back_if_due();
    if (!cupti_is_taken()) {
      keep_other_clock();
      flush_cupti(everything, now_ns);
      if (device_is_missing() && !cupti_is_taken() && ask_for_devices()) flush_cupti(everything, now_ns);
    }
    leave_cupti();
  }
  if (cupti_is_taken()) fetched_ns = now_ns;  // before the handover all records were fetched
  if (everything && __atomic_load_n(&ending, __ATOMIC_ACQUIRE)) stop_folding();
  uint64_t held_since = put_folds(everything);
  put_note_span(everything ? MLRUN_GPU_ENDED : MLRUN_GPU_FLUSHED, 0, 0, earlier(held_since, fetched_ns));
}

static bool is_over(void) { return __atomic_load_n(&ended, __ATOMIC_ACQUIRE); }

static void *run(void *nothing) {
  (void)nothing;
  session.producer->hide_thread();
  for (;;) {
    // Not at once: this thread starts inside cuInit.
    if (__atomic_load_n(&asked, __ATOMIC_ACQUIRE) == finished) wait_word(&asked, finished, kPeriodMs);
    if (is_over()) return NULL;
    uint32_t wanted = __atomic_load_n(&asked, __ATOMIC_ACQUIRE);
    bool everything = wanted != finished;
    flush(everything);
    if (!everything) continue;
    __atomic_store_n(&finished, wanted, __ATOMIC_RELEASE);
    wake_word(&finished);
  }
}

// Waits for a flush of everything while records arrive, `limit_ms` at most.
static void flush_and_wait(int limit_ms) {
  if (!session_is_ours() || is_over()) return;
  uint32_t wanted = __atomic_add_fetch(&asked, 1, __ATOMIC_ACQ_REL), done;
  wake_word(&asked);
  uint64_t records = records_read();
  for (int waited = 0, quiet = 0; waited < limit_ms && quiet < kQuietMs; waited += kStepMs, quiet += kStepMs) {
    done = __atomic_load_n(&finished, __ATOMIC_ACQUIRE);
    if ((int32_t)(done - wanted) >= 0) return;
    wait_word(&finished, done, kStepMs);
    if (records != records_read()) quiet = 0;
    records = records_read();
  }
}

static void at_end(void) { flush_and_wait(kUrgentMs); }

static void at_exit(void *nothing) {
  (void)nothing;
  if (session_is_ours()) __atomic_store_n(&ending, 1, __ATOMIC_RELEASE);
  flush_and_wait(kExitMs);
  if (session_is_ours()) __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
}

static void call_at_exit(void) {
  ((int (*)(void (*)(void *), void *, void *))session.producer->function_of_libc("__cxa_atexit"))(at_exit, NULL, NULL);
}

bool start_flusher(void) {
  union {
    void (*any)(void);
    int (*call)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  } create = {session.producer->function("pthread_create")};
  if (!create.any) return false;
  // glibc's own two signals stay unblocked: else setuid() of any thread would wait for this one for ever.
  uint64_t all = ~(1ull << (kCancelSignal - 1) | 1ull << (kSetIdSignal - 1)), before = 0;
  pthread_t thread;
  fetched_ns = session.started_ns;
  raw_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, kSignalSetBytes);
  int error = create.call(&thread, NULL, run, NULL);
  raw_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, kSignalSetBytes);
  if (error) return false;
  // Registered inside cuInit, so it runs before CUDA's own handlers.
  call_at_exit();
  session.producer->before_end(at_end);
  return true;
}
