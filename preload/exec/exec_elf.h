// SPDX-License-Identifier: Apache-2.0
// Reads an ELF file: whether it can be executed with this library, and which library must precede ours.
#pragma once

#include <elf.h>
#include <stddef.h>

#include "runner/events/record.h"

#pragma GCC visibility push(hidden)

enum { kHeadBytes = 1024, kRuntimeNameBytes = 64, kDynamicEntries = 64, kLinkerNameBytes = 256 };

// The beginning of a file, enough for the headers of an ELF file and the first line of a script, and the fields read
// from it. In a scratch page: a program may execute another one on a signal stack of 4 KiB.
struct file_head {
  union {
    char text[kHeadBytes + 1];
    Elf64_Ehdr elf;
  };
  size_t bytes;
  Elf64_Dyn dynamic[kDynamicEntries];
  char linker[kLinkerNameBytes];
};

// `head`: the beginning of the ELF file at `fd`. runtime (kRuntimeNameBytes): the name under which the program needs a
// sanitizer's runtime, which insists on being the first library of all; "" if it needs none.
enum mlrun_exec_target judge_elf(long fd, struct file_head *head, char *runtime);

// Whether a library's file name is that of such a runtime.
_Bool is_sanitizer_runtime(const char *name);

#pragma GCC visibility pop
