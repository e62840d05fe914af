// SPDX-License-Identifier: Apache-2.0
// What a seccomp filter does to calls, read from its program before it is installed. Under most filters success and
// ENOENT are the kernel's own answers, and the kernel may still be asked whether memory can be read (readable.h).
#pragma once

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct filter_verdict {
  bool may_answer;    // success or ENOENT may be its own answer instead of the kernel's
  bool allows_probe;  // is_readable_word() passes
};

static const struct filter_verdict kWorstVerdict = {.may_answer = true};

// program: the program's struct sock_fprog. If it cannot be read, the worst is assumed.
struct filter_verdict judge_filter(const void *program);

#pragma GCC visibility pop
