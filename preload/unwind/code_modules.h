// SPDX-License-Identifier: Apache-2.0
// The program and its libraries for the stack walker: the addresses of their code and of their unwind information. Read
// from the dynamic linker's list, as next_symbol.h does and for the same reasons.
//
// The table is our own copy, under a sequence number: odd while it is written. No thread waits: one that finds the
// table being written, or the linker's list changing, gets no module. Entries of libraries that can be unloaded are
// verified before use, since libc unloads some of its own without any call that could be hooked. Where the dynamic linker
// finds objects by address without a lock (glibc 2.35), that needs no system call.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

enum { kBuildIdMaxBytes = 24 };

struct code_module {
  uint64_t start, end;                // addresses of executable code
  uint64_t bias;                      // address in memory minus address in the file
  uint64_t file_offset;               // of `start`
  uint64_t tables_start, tables_end;  // the readable segment that holds the unwind information
  uint64_t eh_frame_header;           // 0: there is none
  uint64_t object, dynamic, name;     // the linker's entry, its l_ld and l_name
  uint64_t header, begin_hash;        // address of the ELF header, and a hash of the file's first KiB
  uint64_t build_id_at;               // its address
  uint32_t number;                    // counts from 1; never reused in this process
  uint8_t build_id_bytes;
  bool stays;                 // loaded at the program's start, so never unloaded
  bool keeps_frame_pointers;  // in all functions, as far as is known
  uint8_t build_id[kBuildIdMaxBytes];
};

enum module_search { MODULE_FOUND, MODULE_NONE, MODULE_BUSY };

// The module with code at `address`, copied to *module; reads the linker's list again where that may help.
enum module_search find_code_module(uint64_t address, struct code_module *module);

// At load: modules loaded now stay. `memory`: code_modules_bytes() bytes of zeros.
void code_modules_begin(void *memory);
size_t code_modules_bytes(void);
// In a forked child: voids a refresh that was under way in another thread of the parent.
void code_modules_after_fork(void);
// After a dlclose: drops unloaded modules.
void code_modules_changed(void);

// Code of the tracer: of this library, and of the one that records through it (libmlrun_cupti.so).
enum { kOwnLibraries = 2 };
struct own_code {
  uint64_t start, bytes;  // 0 bytes: not loaded, or unknown
};
extern struct own_code own_code[kOwnLibraries];

INLINE bool is_own_code(uint64_t address) {
  return address - own_code[0].start < own_code[0].bytes || address - own_code[1].start < own_code[1].bytes;
}

// Rises each time code has been unloaded: addresses may mean something else from then on.
extern uint32_t code_generation;

#pragma GCC visibility pop
