// SPDX-License-Identifier: Apache-2.0
// Hooks of the two functions that can install a seccomp filter; all other calls of them pass through. The recorder has its own hooks in front
// of these. Other calls end in a jump to the real function and leave no stack frame: `syscall` may make a child that shares this stack.
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/base/real_function.h"
#include "preload/core/confinement.h"
#include "preload/placement/start.h"

uint32_t confinements;

// Declared with the maximum number of arguments, because they are passed on.
int prctl_hook(int option, long a, long b, long c, long d) __asm__("prctl");
long syscall_hook(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

static COLD int confining_prctl(long a, long b, long c, long d) {
  REAL(int, prctl, int, ...);
  enum confinement begun = begin_confinement(owner_of_memory());
  int result = real(PR_SET_SECCOMP, a, b, c, d);
  end_confinement(begun, result >= 0);
  return result;
}

EXPORT int prctl_hook(int option, long a, long b, long c, long d) {
  REAL(int, prctl, int, ...);
  if (unlikely(option == PR_SET_SECCOMP)) return confining_prctl(a, b, c, d);
  return real(option, a, b, c, d);
}

// `first` is the argument as the kernel sees it: it ignores the upper half.
static bool installs_filter(long number, uint32_t first) {
  if (number == SYS_seccomp) return first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER;
  return number == SYS_prctl && first == PR_SET_SECCOMP;
}

static COLD long confining_syscall(long number, long a, long b, long c, long d, long e) {
  REAL(long, syscall, long, ...);
  enum confinement begun = begin_confinement(owner_of_memory());
  long result = real(number, a, b, c, d, e);
  end_confinement(begun, result >= 0);
  return result;
}

EXPORT long syscall_hook(long number, long a, long b, long c, long d, long e, long f) {
  REAL(long, syscall, long, ...);
  if (unlikely(installs_filter(number, (uint32_t)a))) return confining_syscall(number, a, b, c, d, e);
  return real(number, a, b, c, d, e, f);
}
