// SPDX-License-Identifier: Apache-2.0
// Placement rules (--place) and counts of their use, in the memory of the arena behind the path rules (arena.h). mlrun writes the rules
// before any process reads them; libmlrun_placement.so counts in the slots, one for each process that has placed a block. Forked children that
// have only inherited blocks can have one of the last fourth. When more than
// half of them are taken, mlrun adds the counts of ended processes up in one slot, and other processes can have theirs. The same holds for caches.
//
//   struct mlrun_placement | rules[] | texts (each ends with a 0) | slots[] | counts of caches | mappings (placed_mappings.h)
//
// The first rule that fits a block and has room for it places it. A block without such a rule is libc's.
#pragma once

#include "runner/events/types.h"

enum {
  MLRUN_PLACEMENT_BYTES = 192 << 10,
  MLRUN_PLACE_RULES = 64,
  MLRUN_PLACE_NODES = 128,        // node numbers are below this
  MLRUN_PLACE_SHARES = 8,         // nodes of a ratio
  MLRUN_PLACE_FRAMES = 16,        // maximum callers of a signature
  MLRUN_PLACE_CACHES = 1024,      // of all processes together
  MLRUN_PLACE_INHERITED_PART = 4  // the last fourth of the slots is for children that only inherit blocks
};

// The calls to which a rule applies.
enum mlrun_place_calls { MLRUN_PLACE_MALLOC, MLRUN_PLACE_MMAP };

enum mlrun_place_role {
  MLRUN_PLACE_ANY_ROLE,
  MLRUN_PLACE_MAIN,    // the process that mlrun has started
  MLRUN_PLACE_WORKER,  // all other processes
  MLRUN_PLACE_COMMAND  // name of the program, a shell pattern
};

enum mlrun_place_site {
  MLRUN_PLACE_ANY_SITE,
  MLRUN_PLACE_LIBRARY,   // file name of the caller's library or program, a shell pattern
  MLRUN_PLACE_FUNCTION,  // exported function of the caller, a shell pattern
  MLRUN_PLACE_SIGNATURE  // callers, innermost first: "build id+offset,build id+first-last,...", hexadecimal digits
};

enum mlrun_place_flag {
  MLRUN_PLACE_HUGE = 1,     // MADV_HUGEPAGE
  MLRUN_PLACE_RATIO = 2,    // pages by shares[]
  MLRUN_PLACE_MEMKIND = 4,  // the heap is memkind's, in a region of budget_bytes
  MLRUN_PLACE_FILE = 8      // the heap is a file in the folder folder_text
};

#define MLRUN_MEMKIND_LIBRARY "libmemkind.so.0"

struct mlrun_place_share {
  __u32 node, share;
};

struct mlrun_place_rule {
  __u64 min_bytes, max_bytes;  // of the requested size, both included
  __u64 budget_bytes;          // live bytes in one process; 0: no limit
  __u64 nodes[MLRUN_PLACE_NODES / 64];
  __u32 calls, role, site;     // the enums above
  __u32 policy;                // MPOL_...; MPOL_DEFAULT: none is set
  __u32 flags;                 // bits of enum mlrun_place_flag
  __u32 role_text, site_text;  // offsets from struct mlrun_placement; 0: none
  __u32 folder_text;           // the same
  __u32 shares_count, spare;
  struct mlrun_place_share shares[MLRUN_PLACE_SHARES];
};

// Counts of one rule in one process.
struct mlrun_place_count {
  __u64 matches, bytes;             // blocks that the rule has placed or failed to place; their requested bytes
  __u64 fallbacks, fallback_bytes;  // of these, left to a later rule or libc: no memory, or a limit reached
  __u64 live_bytes, peak_bytes;     // in whole pages
};

// Counts of one rule in a cache of freed blocks (preload/placement/cache.h), in addition to its struct mlrun_place_count. One cache line,
// with one writer at a time. Sums wrap.
struct mlrun_place_cache {
  __u64 matches, bytes;  // to be added to those of struct mlrun_place_count
  __u64 cached_bytes;    // free blocks; live_bytes of struct mlrun_place_count includes them
  __u32 slot, rule;      // slot: + 1, written last; 0: unused; MLRUN_PLACE_CACHE_BUSY: being taken
  __u64 spare[4];
};

#define MLRUN_PLACE_CACHE_BUSY 0xffffffffu

enum mlrun_place_state {
  MLRUN_PLACE_UNUSED,
  MLRUN_PLACE_BEING_TAKEN,
  MLRUN_PLACE_TAKEN,
  MLRUN_PLACE_SUM  // of ended processes; written by mlrun
};

struct mlrun_place_slot {
  __u32 pid;     // as the process sees it; 0: unknown, or a sum
  __u32 state;   // enum mlrun_place_state
  __u64 window;  // where its heaps are: rule i has window_bytes / rules_count from window + i * that on
  __u64 window_bytes;
  __u64 pid_namespace;
  __u64 mappings_left_out;  // a bit for each rule: some of its mappings had no room in placed_mappings.h
  __u32 number;             // processes with a slot are numbered from 1 on; 0: a sum
  __u32 vdso_page;          // of its vDSO, the lower 32 bits: another one after an exec; 0: unknown
  // struct mlrun_place_count counts[rules_count]
};

// Zeros: no rules.
struct mlrun_placement {
  __u32 rules_count;
  __u32 rules_offset, texts_offset, slots_offset;  // from this struct
  __u32 slot_bytes, slots_count;
  __u32 slots_wanted;         // targets: how many processes have asked for a slot, which numbers them
  __u32 main_pid;             // targets: the first process that has read the rules
  __u32 processes;            // targets: images that have read the rules
  __u32 without_memory;       // targets: images that could not have a heap
  __u32 caches_taken;         // targets and mlrun: struct mlrun_place_cache in use
  __u32 not_counted;          // targets: processes for which no slot was unused
  __u32 without_block_rules;  // targets: images with a free or realloc in front of mlrun's
};

// Exported by libmlrun_placement.so, for libmlrun_preload.so: blocks at base + [0, bytes) are from the placement library, all others
// from the allocator behind it. Until the rules are known, the range is the whole address space.
#ifndef __cplusplus
struct mlrun_placement_view {
  const unsigned long *base, *bytes;
  void *(*malloc)(unsigned long);         // the placement library's
  unsigned long (*usable_size)(void *);   // of a block of either; all bits 1: the allocator behind it cannot tell
  _Bool (*is_before_glibc)(void);         // the allocator behind it is libc's
  const char *(*allocator_object)(void);  // file of the allocator behind it
  void (*follow_mlockall)(int flags);     // to be called after the recorder has locked the program's mappings itself
};
#endif
