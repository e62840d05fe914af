// SPDX-License-Identifier: Apache-2.0
// Calls by which a program gives up rights that recording needs. After seccomp even a futex may kill, so from then on
// recording makes no system call; without a time stamp counter there is no clock, so the process records no more.
//
// `syscall` and `prctl` end in a jump to the real function and leave no stack frame: `syscall` may make a child that
// shares this stack. File calls and waits that are made through `syscall` are recorded (raw_hooks.h).
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "preload/base/real_function.h"
#include "preload/calls/ring_watch.h"
#include "preload/core/confinement.h"
#include "preload/core/filter_answers.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/hooks/raw_hooks.h"
#include "preload/record/channel.h"
#include "preload/record/thread_name.h"

// What a call of the program gives up, if it succeeds.
struct attempt {
  bool seccomp, clock;
  enum confinement confinement;   // by seccomp
  struct filter_verdict verdict;  // on the filter, if it is of this process
};

// Restricts recording from the start of the call, since other threads are recording, and for good once it has
// succeeded. Under a filter clock_gettime is safe only if it makes no system call, which is certain if the TSC is the
// clock. A vfork child records nothing anyway. filter: the program's struct sock_fprog that is being installed, or null.
static struct attempt begin(bool seccomp, bool clock, const void *filter) {
  struct attempt attempt = {.seccomp = seccomp, .verdict = kWorstVerdict};
  (void)recording_is_on();  // in a forked child: makes process.pid its own
  attempt.clock = (clock || !clock_is_tsc) && !in_vfork_child();
  if (filter && process.arena) attempt.verdict = judge_filter(filter);
  if (seccomp) attempt.confinement = begin_confinement(process.pid);
  if (seccomp && attempt.confinement == kOfProcess) count_filter(&attempt.verdict, 1);
  if (attempt.clock) give_up_clock();
  return attempt;
}

static void end(const struct attempt *attempt, bool succeeded) {
  static bool is_counted;
  if (succeeded) {
    if (attempt->clock && !__atomic_exchange_n(&is_counted, true, __ATOMIC_RELAXED)) count_failure(MLRUN_FAIL_NO_CLOCK);
  } else if (attempt->clock) {
    get_clock_back();
  }
  if (!attempt->seccomp) return;
  end_confinement(attempt->confinement, succeeded);
  if (!succeeded && attempt->confinement == kOfProcess) count_filter(&attempt->verdict, -1);
}

static COLD int set_name(const char *name, long b, long c, long d) {
  REAL(int, prctl, int, ...);
  int result = real(PR_SET_NAME, name, b, c, d);
  if (result == 0) put_thread_name(thread_of_caller(), name);
  return result;
}

// Declared with the maximum number of arguments, because they are passed on.
int prctl_hook(int option, long a, long b, long c, long d) __asm__("prctl");
long syscall_hook(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

static COLD int confining_prctl(int option, long a, long b, long c, long d) {
  REAL(int, prctl, int, ...);
  bool seccomp = option == PR_SET_SECCOMP;
  bool strict = seccomp && a == SECCOMP_MODE_STRICT;
  struct attempt attempt = begin(seccomp, !seccomp || strict, seccomp && !strict ? (const void *)b : NULL);
  int result = real(option, a, b, c, d);
  end(&attempt, result == 0);
  return result;
}

EXPORT int prctl_hook(int option, long a, long b, long c, long d) {
  REAL(int, prctl, int, ...);
  bool gives_up = option == PR_SET_SECCOMP || (option == PR_SET_TSC && a == PR_TSC_SIGSEGV);
  if (unlikely(gives_up)) return confining_prctl(option, a, b, c, d);
  if (option == PR_SET_NAME) return set_name((const char *)a, b, c, d);
  return real(option, a, b, c, d);
}

static COLD long confining_syscall(long operation, long flags, long arguments) {
  REAL(long, syscall, long, ...);
  bool strict = (uint32_t)operation == SECCOMP_SET_MODE_STRICT;
  struct attempt attempt = begin(true, strict, strict ? NULL : (const void *)arguments);
  long result = real(SYS_seccomp, operation, flags, arguments);
  end(&attempt, result >= 0);
  return result;
}

EXPORT long syscall_hook(long number, long a, long b, long c, long d, long e, long f) {
  REAL(long, syscall, long, ...);
  uint32_t operation = (uint32_t)a;  // the kernel ignores the upper half
  bool gives_up =
      number == SYS_seccomp && (operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER);
  if (unlikely(gives_up)) return confining_syscall(a, b, c);
  if (unlikely(number == SYS_prctl)) return prctl_hook((int)a, b, c, d, e);
  if (number == SYS_futex && note_futex_post(a, b, e)) return real(number, a, b, c, d, e, f);
  if ((unsigned long)number < kRawNumbers && raw_call_is_known[number])
    return traced_raw_call(real, number, a, b, c, d, e, f);
  if (unlikely(number == SYS_shmdt)) return shmdt((const void *)a);
  if (unlikely(number == SYS_unshare)) return unshare((int)a);
  if (unlikely(number == SYS_setns)) return setns((int)a, (int)b);
  if (unlikely(number == SYS_io_uring_setup)) return traced_ring_setup(real, a, b);
  if (unlikely(number == SYS_io_uring_enter) && rings_are_there) note_ring_entered(a, b, d);
  return real(number, a, b, c, d, e, f);
}
