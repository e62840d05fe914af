// SPDX-License-Identifier: Apache-2.0
// The definition of a library in the trace: where it lies in this process, its file and build id.
#pragma once

#include "preload/code_modules.h"
#include "runner/events/record.h"

#pragma GCC visibility push(hidden)

// Which modules this process has defined, a bit each.
struct announced_modules {
  uint64_t bits[(MLRUN_FRAME_MODULE_MAX + 1) / 64];
};

// Writes the module's definition unless that has been done. If there is no room it is tried again the next time.
// Requires: module->number <= MLRUN_FRAME_MODULE_MAX.
void announce_module(struct announced_modules *announced, const struct code_module *module);

#pragma GCC visibility pop
