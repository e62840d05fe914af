// SPDX-License-Identifier: Apache-2.0
// The process's own records: MLRUN_PROCESS before its first other record, MLRUN_END when it ends or executes another
// image. Strings are read from /proc once, at load: later the program may lack the permission.
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// At load: reads /proc and the environment.
void process_record_collect(char **environment);

// The n-th number of /proc/self/stat; 0: it cannot be read.
uint64_t process_stat_field(int wanted);

// The program's file according to /proc; null: unknown.
const char *process_exe(size_t *bytes);

// In a forked child that cannot see its parent: its pid namespace differs from the parent's.
void process_record_enter_namespace(void);

// Writes the process record unless this process has written it. If it does not fit, a later call tries again.
void process_record_write(void);

// Writes the end record with the I/O counters of /proc/self/io; without counters if they cannot be read. status: exit
// status, 0 if unknown.
void process_end_write(int status);

#pragma GCC visibility pop
