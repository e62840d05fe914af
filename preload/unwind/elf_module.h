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

// Hash of an ELF header, to detect later that it was replaced. 0: it cannot be read.
uint64_t elf_header_hash(uint64_t header);

#pragma GCC visibility pop
