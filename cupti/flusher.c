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
// How long the end of a process waits for the last flush: kExitMs at exit(); kUrgentMs at _exit(), which may be
// called because a thread hangs; in both cases no longer than kQuietMs without new records.
enum { kUrgentMs = 200, kQuietMs = 500, kExitMs = 5000, kStepMs = 20 };

static uint32_t asked, finished;  // numbers of flushes of all records
static uint32_t ending;           // set before the last flush
static uint32_t ended;            // CUDA ends: CUPTI must not be called any more
static uint64_t fetched_ns;       // records of all work that had finished by this time have been read

static void wait_word(const uint32_t *word, uint32_t value, long ms) {
  struct timespec timeout = {ms / 1000, ms % 1000 * 1000000};
  raw_syscall4(SYS_futex, (long)word, kFutexWait, value, (long)&timeout);
}
static void wake_word(const uint32_t *word) { raw_syscall3(SYS_futex, (long)word, kFutexWake, kEveryone); }

// Flushes CUPTI and detects whether our buffers came back. Another client that finds CUPTI's functions by dlsym
// bypasses our functions of the same names: CUPTI then gives it the buffers that it has filled for us. This is certain
// if the client has freed such a buffer, or at the end of the process, when CUPTI keeps no buffer for unfinished work.
// If a buffer has not come back, fetched_ns does not advance. `now_ns`: a time before the flush.
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
  if (cupti_is_taken()) fetched_ns = now_ns;  // hand_cupti_over() has fetched all records
  if (everything && __atomic_load_n(&ending, __ATOMIC_ACQUIRE)) stop_folding();
  uint64_t held_since = put_folds(everything);
  put_note_span(everything ? MLRUN_GPU_ENDED : MLRUN_GPU_FLUSHED, 0, 0, earlier(held_since, fetched_ns));
}

static bool is_over(void) { return __atomic_load_n(&ended, __ATOMIC_ACQUIRE); }

static void *run(void *nothing) {
  (void)nothing;
  session.producer->hide_thread();
  for (;;) {
    // Waits before the first flush, too: this thread is created inside cuInit.
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

// Requests a flush of all records and waits for it: at most `limit_ms`, and only while records arrive (kQuietMs).
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
  // The thread blocks all signals but the two that glibc uses itself: setuid() in any thread waits until each thread
  // has handled one of them.
  uint64_t all = ~(1ull << (kCancelSignal - 1) | 1ull << (kSetIdSignal - 1)), before = 0;
  pthread_t thread;
  fetched_ns = session.started_ns;
  raw_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, kSignalSetBytes);
  int error = create.call(&thread, NULL, run, NULL);
  raw_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, kSignalSetBytes);
  if (error) return false;
  // CUDA has registered its exit handlers before (this runs inside cuInit), so ours runs first.
  call_at_exit();
  session.producer->before_end(at_end);
  return true;
}
