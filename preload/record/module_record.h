// SPDX-License-Identifier: Apache-2.0
// The definition of a library in the trace: its address in this process, its file and build id.
#pragma once

#include "preload/unwind/code_modules.h"
#include "runner/events/record.h"

#pragma GCC visibility push(hidden)

// Bit set of the modules that this process has defined.
struct announced_modules {
  uint64_t bits[(MLRUN_FRAME_MODULE_MAX + 1) / 64];
};

// Writes the module's definition unless it is written. If it does not fit, the next call tries again. Requires:
// module->number <= MLRUN_FRAME_MODULE_MAX.
void announce_module(struct announced_modules *announced, const struct code_module *module);

// The module's file name from the dynamic linker, or for the program itself from the kernel; not terminated by 0. *bytes
// 0: unknown.
const char *name_of_module(const struct code_module *module, size_t *bytes);

// Writes the module's definition with this file name. False: the record was dropped.
bool write_module(const struct code_module *module, const char *name, size_t bytes);

#pragma GCC visibility pop
