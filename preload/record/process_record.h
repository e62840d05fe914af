// SPDX-License-Identifier: Apache-2.0
// What a process tells of itself: MLRUN_PROCESS before its first other record, MLRUN_END when it ends or becomes
// another image. Strings are read from /proc once, at load: later the program may have no right to.
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// At load, from /proc and the environment.
void process_record_collect(char **environment);

// A number of /proc/self/stat, by its place there; 0: it cannot be read.
uint64_t process_stat_field(int wanted);

// The program's file as /proc has told it; null: it has not.
const char *process_exe(size_t *bytes);

// In a forked child that cannot see its parent: it is in another pid namespace than the parent was.
void process_record_enter_namespace(void);

// Writes the process record unless that has been done in this process. If there is no room it is tried again later.
void process_record_write(void);

// Writes the end record with the I/O counters of /proc/self/io; nothing where they cannot be read. status: exit status,
// 0 if not known.
void process_end_write(int status);

#pragma GCC visibility pop
