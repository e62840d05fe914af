// SPDX-License-Identifier: Apache-2.0
#include <linux/mempolicy.h>
#include <sys/mman.h>

#include "preload/placement/confinement.h"
#include "preload/placement/heap_parts.h"

enum { kPiecePages = 16, kCyclesMax = 64, kPiecesMax = 16384 };  // 64 KiB; a process may have 65,530 mappings

static uint32_t pieces_made;

static bool bind(void *at, size_t bytes, uint32_t policy, const __u64 *nodes) {
  return raw_syscall(SYS_mbind, (long)at, (long)bytes, (long)policy, (long)nodes, MLRUN_PLACE_NODES + 1, 0) == 0;
}

bool policy_apply(const struct mlrun_place_rule *rule, void *at, size_t bytes, bool small) {
  if (small)
    raw_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_NOHUGEPAGE);  // fails where the kernel has none
  else if (rule->flags & MLRUN_PLACE_HUGE)
    raw_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_HUGEPAGE);
  return rule->policy == MPOL_DEFAULT || rule->flags & MLRUN_PLACE_RATIO || bind(at, bytes, rule->policy, rule->nodes);
}

// The run is cut into equal cycles, and each of them by the shares, exact to a page.
bool ratio_apply(const struct mlrun_place_rule *rule, char *at, uint32_t pages) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < rule->shares_count; i++) all += rule->shares[i].share;
  uint64_t cycles = pages / (all * kPiecePages);
  if (cycles > kCyclesMax) cycles = kCyclesMax;
  if (!cycles || __atomic_load_n(&pieces_made, __ATOMIC_RELAXED) > kPiecesMax) cycles = 1;
  uint64_t from = 0, given = 0;
  if (is_confined()) return false;
  for (uint64_t cycle = 0; cycle < cycles; cycle++) {
    for (uint32_t i = 0; i < rule->shares_count; i++) {
      given += rule->shares[i].share;
      uint64_t to = (given * pages + all * cycles / 2) / (all * cycles);
      __u64 nodes[MLRUN_PLACE_NODES / 64] = {0};
      nodes[rule->shares[i].node / 64] = 1ull << rule->shares[i].node % 64;
      if (to > from && !bind(at + from * kPageBytes, (to - from) * kPageBytes, rule->policy, nodes)) return false;
      from = to;
    }
  }
  __atomic_fetch_add(&pieces_made, cycles * rule->shares_count, __ATOMIC_RELAXED);
  return true;
}
