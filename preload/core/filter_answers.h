// SPDX-License-Identifier: Apache-2.0
// What a seccomp filter makes of calls, read from its program before it is installed. Under most, a call that succeeds or finds no such
// file is the kernel's own answer, and memory may still be asked for (readable.h).
#pragma once

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct filter_verdict {
  bool may_answer;    // success or ENOENT may be its own answer, in the kernel's place
  bool allows_probe;  // is_readable_word() goes through
};

// program: a struct sock_fprog of the program's. Where it cannot be read the worst is taken for true.
struct filter_verdict judge_filter(const void *program);

#pragma GCC visibility pop
