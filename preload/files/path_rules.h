// SPDX-License-Identifier: Apache-2.0
// Which files are recorded (--include, --exclude). A descriptor is checked once, when it is opened or identified, by
// the kernel's name for it; its entry in the table (fd_table.h) carries the result, through dup and fork. A call that
// names a file is checked by its absolute path, resolved as text. Calls on files that are left out are counted in the
// thread's channel, with their bytes and their time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/record/text.h"

#pragma GCC visibility push(hidden)

extern bool path_rules_on;

// Copies the rules: later changes of the arena by the program have no effect.
void path_rules_load(const char *rules, size_t bytes);

// Whether the rules include a file. name: the kernel's name for it, which ends with " (deleted)" if it is unlinked.
bool name_is_wanted(const struct text *name);

// Whether the rules include a path argument of a call, relative to `dirfd`. True also if it cannot be resolved.
bool path_is_wanted(const struct text *path, int dirfd);

// Whether a descriptor of the process is of a file that is recorded.
bool descriptor_is_wanted(int fd);

// The absolute path as a text, all zero: unknown.
struct text text_of_absolute_path(const struct text *path, int dirfd);

// Counts a call. ticks: its duration; result: as for a record.
COLD void count_left_out(uint32_t kind, uint64_t ticks, int64_t result);

#pragma GCC visibility pop
