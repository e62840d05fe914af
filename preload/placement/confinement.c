// SPDX-License-Identifier: Apache-2.0
// The calls by which a program installs a filter. Nothing else of them is of interest; the recorder has hooks of its own in front. Both end
// in a jump to the real function: `syscall` may fork, and its child must find the same stack.
#include "preload/placement/confinement.h"

#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/base/real_function.h"
#include "preload/core/recorder.h"

bool confined;

static COLD void confine(void) {
  __atomic_store_n(&confined, true, __ATOMIC_RELAXED);
  system_calls_allowed = false;
}

// Declared with the maximum number of arguments, because they are passed on.
int prctl_hook(int option, long a, long b, long c, long d) __asm__("prctl");
long syscall_hook(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

EXPORT int prctl_hook(int option, long a, long b, long c, long d) {
  REAL(int, prctl, int, ...);
  if (unlikely(option == PR_SET_SECCOMP)) confine();
  return real(option, a, b, c, d);
}

EXPORT long syscall_hook(long number, long a, long b, long c, long d, long e, long f) {
  REAL(long, syscall, long, ...);
  if (unlikely(number == SYS_seccomp || (number == SYS_prctl && a == PR_SET_SECCOMP))) confine();
  return real(number, a, b, c, d, e, f);
}
