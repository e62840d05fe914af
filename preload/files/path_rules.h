// SPDX-License-Identifier: Apache-2.0
// Which files are recorded (--include, --exclude). A descriptor is judged once, when it is opened or first met, by the
// kernel's name for it; its entry in the table (fd_table.h) carries the verdict, through dup and fork. A call that names
// a file is judged by its absolute path, resolved by the letter. Calls on files that are left out are counted in the
// thread's channel, with their bytes and their time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/record/text.h"

#pragma GCC visibility push(hidden)

extern bool path_rules_on;

// Copies the rules: what the program does to the arena later changes nothing.
void path_rules_load(const char *rules, size_t bytes);

// A name as the kernel has it, with " (deleted)" where the file has none any more.
bool name_is_wanted(const struct text *name);

// A path that a call was given, relative to `dirfd`. What cannot be told is wanted.
bool path_is_wanted(const struct text *path, int dirfd);

// Does a descriptor of the process stand for a file that is recorded?
bool descriptor_is_wanted(int fd);

// The absolute path as a text, all zero: it cannot be told.
struct text text_of_absolute_path(const struct text *path, int dirfd);

// Counts a call. ticks: its duration; result: as for a record.
COLD void count_left_out(uint32_t kind, uint64_t ticks, int64_t result);

#pragma GCC visibility pop
