// SPDX-License-Identifier: Apache-2.0
// Records: what a thread appends to its segments. Rows of 16-byte units, at most 255; a word is 8 bytes.
//
//   w0  {tag 8 | units 8 | kind 16 | arg 32}     stored last (arena.h, lap rule)
//   w1  clock: when the call began (calls, realloc, mappings) or the moment of the event
//   w2… payload. The low byte of every even word is a tag byte and stays 0; odd words are free.
//
// Layouts by kind. "<< 8" keeps the tag byte clear; signed fields are shifted arithmetically.
//
//   alloc      arg = low half of the return address
//              w2 = address << 5 | min(usable - size, 4095) << 52
//              w3 = size (48) | return address bits 32..47 << 48
//              3 units: w4 = duration << 8, w5 = alignment asked for (0: none)
//              realloc, 4 units: w4 = old address << 5, w5 = old usable size, w6 = duration << 8, w7 = 0
//              free: size is the usable size, excess 0
//
//   call on a  arg = fd (the new one for calls that make one)
//   descriptor w2 = duration << 8
//              w3 = bytes asked for, or what hooks.def says of the function
//              w4 = (result, or -errno) << 8
//              w5 = file offset; MLRUN_NO_OFFSET: not an argument
//              w6 = open file << 8 | flags << 40
//              w7 = arg2
//
//   call on a  arg = result fd, or dirfd; w2, w4 and w6 as above (open file: the one that was made)
//   path       w3 = call's own (open: O_ flags | mode << 32)
//              w5 = second path's string id (rename, link), else 0
//              w7 = path's string id, 0: unreadable
//              5 units: w8 = open file of dirfd << 8, w9 = open file of the second dirfd
//              6 units: the same, and w10 = 0, w11 = string id of the working directory: a path is relative to it
//
//   file       defines an open file (MLRUN_FILE): arg = its number
//              w2 = kernel device number << 8 | enum mlrun_file_origin << 40
//              w3 = inode
//              w4 = st_mode << 8
//              w5 = path's string id, as passed or as /proc has it
//              w6 = open file of dirfd << 8
//              w7 = string id of the working directory, 0: not needed
//
//   string     arg = bytes in this fragment (16) | fragment << 16 | last << 24; w1 = id, no clock
//              then units of 15 bytes behind a tag byte
//
//   process    arg = pid; see enum mlrun_process_word
//
//   end        /proc/self/io at exit or exec: w2 = exit status << 8 (0: not known), w3 = rchar, w4 = syscr << 8,
//              w5 = wchar, w6 = syscw << 8, w7 = read_bytes, w8 = write_bytes << 8, w9 = 0
//
//   comm       arg = tid; w2 = 0; w3 = string id of the thread's new name
#pragma once

#include "runner/events/types.h"

// Numbers are never reused. 0x40..0x7f allocations, 0x100 + n: function n of hooks.def.
enum mlrun_kind {
  MLRUN_PAD = 1,  // nothing more in this segment; units 0
  MLRUN_STRING = 2,
  MLRUN_FILE = 3,
  MLRUN_PROCESS = 4,
  MLRUN_END = 5,
  MLRUN_COMM = 6,

  MLRUN_MALLOC = 0x40,
  MLRUN_CALLOC = 0x41,
  MLRUN_REALLOC = 0x42,
  MLRUN_REALLOCARRAY = 0x43,
  MLRUN_FREE = 0x44,
  MLRUN_POSIX_MEMALIGN = 0x45,
  MLRUN_ALIGNED_ALLOC = 0x46,
  MLRUN_MEMALIGN = 0x47,
  MLRUN_VALLOC = 0x48,
  MLRUN_PVALLOC = 0x49,
  MLRUN_ALLOC_END = 0x4a,

  MLRUN_CALL = 0x100
};

// How an open file came to be known.
enum mlrun_file_origin {
  MLRUN_ORIGIN_OPENED = 1,  // by a recorded call of this process
  MLRUN_ORIGIN_FOUND = 2,   // met on a descriptor: inherited, or made by a call that is not hooked
};

enum mlrun_process_origin { MLRUN_PROCESS_LOADED = 1, MLRUN_PROCESS_FORKED = 2 };

// MLRUN_PROCESS, 8 units. A loaded image tells everything; a forked child repeats the parent's strings.
enum mlrun_process_word {
  MLRUN_PW_ORIGIN = 2,   // enum mlrun_process_origin << 8 | parent pid << 32
  MLRUN_PW_NUMBERS = 3,  // process number | image number << 32
  MLRUN_PW_START = 4,    // start time, clock ticks since boot << 8; 0: not known
  MLRUN_PW_EXE = 5,      // string id
  MLRUN_PW_RANK = 6,     // (RANK + 1) << 8 (20 bits) | (LOCAL_RANK + 1) << 28 (16 bits) | WORLD_SIZE << 44; 0: not set
  MLRUN_PW_ARGUMENTS = 7,   // string id; the arguments separated by NUL, cut at 4 KiB
  MLRUN_PW_NAMESPACE = 8,   // inode of the pid namespace << 8
  MLRUN_PW_CGROUP = 9,      // string id; the raw line of /proc/self/cgroup
  MLRUN_PW_UID = 10,        // uid << 8 | glibc_malloc << 40
  MLRUN_PW_CWD = 11,        // string id
  MLRUN_PW_ALLOCATOR = 13,  // string id; file of the library whose malloc is used
  MLRUN_PW_WORDS = 16
};

enum { MLRUN_RECORD_MAX_BYTES = 4080, MLRUN_STRING_FRAGMENT_BYTES = 254 * 15 };
#define MLRUN_NO_OFFSET ((__u64)-1)

// Bits of `flags` in a call record.
enum mlrun_call_flag {
  MLRUN_CALL_STDIO = 1,      // w7 = number of stdio calls this refill or flush served; offset, if given, is exact
  MLRUN_CALL_CANCELLED = 2,  // the thread was cancelled inside; the result is -ECANCELED
  MLRUN_CALL_PASSED_FD = 4   // arg is the dirfd, not a new descriptor
};

// What can be said of a program before it is executed: whether the library can come along.
enum mlrun_exec_target {
  MLRUN_EXEC_TRACED = 0,       // nothing against it
  MLRUN_EXEC_UNKNOWN = 1,      // the file cannot be looked at; the library is sent along
  MLRUN_EXEC_STATIC = 2,       // no dynamic linker: nothing is recorded, but its children may be
  MLRUN_EXEC_FOREIGN = 3,      // another processor or ELF class: the library is left out
  MLRUN_EXEC_UNREACHABLE = 4,  // the library's file is not visible there: it is left out
  MLRUN_EXEC_RAISED = 5,       // setuid, setgid or file capabilities: ld.so ignores the library
  MLRUN_EXEC_NESTED = 6        // it goes into the trace of another mlrun, which runs inside this one
};

static inline __u64 mlrun_word0(__u64 lap, __u64 units, __u64 kind, __u32 arg) {
  return lap | units << 8 | kind << 16 | (__u64)arg << 32;
}
