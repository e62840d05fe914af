// SPDX-License-Identifier: Apache-2.0
// A system call that touches neither errno nor any function that a program may have replaced.
#pragma once

#include <sys/syscall.h>

// The kernel's result: negative errno on failure.
static inline long raw_syscall(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return number;
}

static inline long raw_syscall0(long number) { return raw_syscall(number, 0, 0, 0, 0, 0, 0); }
static inline long raw_syscall1(long number, long a) { return raw_syscall(number, a, 0, 0, 0, 0, 0); }
static inline long raw_syscall2(long number, long a, long b) { return raw_syscall(number, a, b, 0, 0, 0, 0); }
static inline long raw_syscall3(long number, long a, long b, long c) { return raw_syscall(number, a, b, c, 0, 0, 0); }
static inline long raw_syscall4(long number, long a, long b, long c, long d) {
  return raw_syscall(number, a, b, c, d, 0, 0);
}
