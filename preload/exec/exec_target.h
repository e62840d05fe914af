// SPDX-License-Identifier: Apache-2.0
// Examines a program that is about to be executed: whether this library can be loaded into it. If not, ld.so would
// complain on the program's stderr, or the program would not start at all.
#pragma once

#include <stdbool.h>

#include "preload/exec/exec_elf.h"

#pragma GCC visibility push(hidden)

struct exec_target {
  enum mlrun_exec_target verdict;
  int error;                        // why the file cannot be opened, 0: it can
  char runtime[kRuntimeNameBytes];  // of a sanitizer that it is built with, or ""
  char *found;                      // its path found in PATH, a scratch page to give back; null: it is `path` itself
};

// The program at `path`, relative to `dirfd` or AT_FDCWD; an empty path: dirfd itself. search: `path` is searched in
// PATH as execvp does. Follows interpreters of scripts. Files are not examined once the program has confined itself:
// whatever it executes is confined too. Safe in a vfork child; leaves errno alone.
struct exec_target exec_target_of(int dirfd, const char *path, bool search);

#pragma GCC visibility pop
