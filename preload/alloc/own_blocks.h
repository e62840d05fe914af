// SPDX-License-Identifier: Apache-2.0
// Which small blocks a forked child has allocated itself. Blocks below --alloc-min have no record, so a free of a block
// inherited from the parent looks like a free of the child's own. One bit for each 16 bytes of address space, set when
// the child allocates the block that begins there. It is never cleared: a freed block is allocated again before it is
// freed again.
//
// Memory is mapped on demand, 1/128 of the address range of the child's small blocks. Only in forked children.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

enum { kOwnTop = 1 << 12, kOwnMiddle = 1 << 13, kOwnPieceBits = 22, kOwnGrain = 16 };

struct own_piece {
  uint64_t words[(1 << kOwnPieceBits) / kOwnGrain / 64];
};
struct own_middle {
  struct own_piece *pieces[kOwnMiddle];
};
extern struct own_middle *own_blocks_top[kOwnTop];

struct own_place {
  uint64_t piece, word, bit;
};

INLINE struct own_place own_place_of(const void *block) {
  uint64_t address = (uint64_t)block, grain = address % (1 << kOwnPieceBits) / kOwnGrain;
  return (struct own_place){address >> kOwnPieceBits, grain / 64, 1ull << grain % 64};
}

INLINE struct own_middle **own_middle_of(struct own_place at) {
  return &own_blocks_top[at.piece / kOwnMiddle % kOwnTop];
}

INLINE bool own_bit_is_set(struct own_place at) {
  const struct own_middle *middle = __atomic_load_n(own_middle_of(at), __ATOMIC_ACQUIRE);
  const struct own_piece *piece =
      likely(middle != NULL) ? __atomic_load_n(&middle->pieces[at.piece % kOwnMiddle], __ATOMIC_ACQUIRE) : NULL;
  return likely(piece != NULL) && __atomic_load_n(&piece->words[at.word], __ATOMIC_RELAXED) & at.bit;
}

void own_blocks_add_slowly(struct own_place at);
bool own_blocks_may_lack(void);

INLINE bool own_blocks_has_noted(const void *block) { return own_bit_is_set(own_place_of(block)); }

// Notes that this process has allocated the block. Any thread, any signal handler.
INLINE void own_blocks_add(const void *block) {
  struct own_place at = own_place_of(block);
  if (unlikely(!own_bit_is_set(at))) own_blocks_add_slowly(at);
}

// Whether this process has allocated the block. False: inherited from the parent. True also if unknown, because memory
// for the bits was exhausted or could not be requested.
INLINE bool own_blocks_has(const void *block) { return likely(own_blocks_has_noted(block)) || own_blocks_may_lack(); }

#pragma GCC visibility pop
