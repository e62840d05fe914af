// SPDX-License-Identifier: Apache-2.0
// The program and its libraries as the stack walker knows them: where their code is, where its unwind information is.
// Read from the dynamic linker's list, as next_symbol.h does and for the same reasons.
//
// The table is a copy of our own, under a sequence number: odd while it is written. Nobody waits: who finds it being
// written, or the linker's list in motion, does without. Entries of libraries that can be unloaded are looked at before
// they are used, since libc unloads some of its own without any call that could be hooked.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

enum { kBuildIdMaxBytes = 24 };

struct code_module {
  uint64_t start, end;                // addresses of executable code
  uint64_t bias;                      // address in memory minus address in the file's own numbering
  uint64_t file_offset;               // of `start`
  uint64_t tables_start, tables_end;  // the readable segment that holds the unwind information
  uint64_t eh_frame_header;           // 0: there is none
  uint64_t object, dynamic, name;     // the linker's entry, its l_ld and l_name
  uint64_t header, header_hash;       // the ELF header in memory, and what it was when it was met
  uint32_t number;                    // counts from 1; never used again in this process
  uint8_t build_id_bytes;
  bool stays;                 // loaded at the program's start
  bool keeps_frame_pointers;  // in all functions, as far as can be told
  uint8_t build_id[kBuildIdMaxBytes];
};

enum module_search { MODULE_FOUND, MODULE_NONE, MODULE_BUSY };

// The module with code at `address`, copied to *module; looks at the linker's list again where that may help.
enum module_search find_code_module(uint64_t address, struct code_module *module);

// At load: what is there now stays. `memory`: code_modules_bytes() bytes of zeros.
void code_modules_begin(void *memory);
size_t code_modules_bytes(void);
// In a forked child: a look that was under way in another thread of the parent is void.
void code_modules_after_fork(void);
// After a dlclose: forgets what is gone.
void code_modules_changed(void);

// Code of the tracer: of this library, and of the one that records through it (libmlrun_cupti.so).
enum { kOwnLibraries = 2 };
struct own_code {
  uint64_t start, bytes;  // 0 bytes: it is not here, or not known
};
extern struct own_code own_code[kOwnLibraries];

INLINE bool is_own_code(uint64_t address) {
  return address - own_code[0].start < own_code[0].bytes || address - own_code[1].start < own_code[1].bytes;
}

// One more each time code has been unloaded: addresses may mean something else from then on.
extern uint32_t code_generation;

#pragma GCC visibility pop
