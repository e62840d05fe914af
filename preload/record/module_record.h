// SPDX-License-Identifier: Apache-2.0
// The definition of a library in the trace: where it lies in this process, its file and build id.
#pragma once

#include "preload/unwind/code_modules.h"
#include "runner/events/record.h"

#pragma GCC visibility push(hidden)

// Which modules this process has defined, a bit each.
struct announced_modules {
  uint64_t bits[(MLRUN_FRAME_MODULE_MAX + 1) / 64];
};

// Writes the module's definition unless that has been done. If there is no room it is tried again the next time.
// Requires: module->number <= MLRUN_FRAME_MODULE_MAX.
void announce_module(struct announced_modules *announced, const struct code_module *module);

// Its file as the dynamic linker has it, or of the program itself as the kernel has it; not ended by 0. *bytes 0: not known.
const char *name_of_module(const struct code_module *module, size_t *bytes);

// Writes the definition under that name. False: there is no room.
bool write_module(const struct code_module *module, const char *name, size_t bytes);

#pragma GCC visibility pop
