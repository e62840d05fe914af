// SPDX-License-Identifier: Apache-2.0
// Hooks of the two functions that can install a seccomp filter; all other calls of them pass through. The recorder has its own hooks in front
// of these. Both end in a jump to the real function and leave no stack frame: `syscall` may make a child that shares this stack.
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
