// SPDX-License-Identifier: Apache-2.0
// An object of the dynamic linker's list, read from its headers in memory.
#pragma once

#include <link.h>
#include <stdbool.h>

#include "preload/unwind/code_modules.h"

#pragma GCC visibility push(hidden)

// Fills everything but number and stays. `object` is a copy of the linker's entry at `at`. False: nothing can be told of
// it (it has no code, or its headers are not where they usually are).
bool read_elf_module(uint64_t at, const struct link_map *object, struct code_module *module);

// What is remembered of an ELF header, to tell later whether it is still the same one. 0: it cannot be read.
uint64_t elf_header_hash(uint64_t header);

#pragma GCC visibility pop
