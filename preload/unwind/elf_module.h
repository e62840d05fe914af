// SPDX-License-Identifier: Apache-2.0
// An object of the dynamic linker's list, described by its headers in memory.
#pragma once

#include <link.h>
#include <stdbool.h>

#include "preload/unwind/code_modules.h"

#pragma GCC visibility push(hidden)

// Fills everything but number and stays. `object` is a copy of the linker's entry at `at`. False: it has no code, or
// its headers are not in the usual place.
bool read_elf_module(uint64_t at, const struct link_map *object, struct code_module *module);

// Whether the file at module->header is still the module's. Requires: the first page there can be read.
bool is_same_file(const struct code_module *module);

#pragma GCC visibility pop
