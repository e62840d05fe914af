// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/policy.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>

#include "preload/base/raw_syscall.h"
#include "preload/core/confinement.h"
#include "preload/placement/ratio.h"
#include "preload/placement/window.h"

enum { kPiecesMany = 16384, kPiecesMax = 32768 };

static uint32_t pieces_made;
static uint32_t whole_mappings;  // mappings that are on one node each, in turn

static bool bind(void *at, size_t bytes, uint32_t policy, const __u64 *nodes, enum bound_pages which) {
  unsigned flags = which == kExistingToo ? MPOL_MF_MOVE : 0;
  return raw_syscall(SYS_mbind, (long)at, (long)bytes, (long)policy, (long)nodes, MLRUN_PLACE_NODES + 1, flags) == 0;
}

bool policy_apply(const struct mlrun_place_rule *rule, void *at, size_t bytes, bool small, enum bound_pages which) {
  if (small)
    raw_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_NOHUGEPAGE);  // fails where the kernel has none
  else if (rule->flags & MLRUN_PLACE_HUGE)
    raw_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_HUGEPAGE);
  return rule->policy == MPOL_DEFAULT || rule->flags & MLRUN_PLACE_RATIO ||
         bind(at, bytes, rule->policy, rule->nodes, which);
}

uint64_t ratio_sum(const struct mlrun_place_rule *rule) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < rule->shares_count; i++) all += rule->shares[i].share;
  return all;
}

bool ratio_begin_pieces(uint32_t pieces) {
  uint32_t before = __atomic_fetch_add(&pieces_made, pieces, __ATOMIC_RELAXED);
  if (!is_confined() && before + pieces <= kPiecesMax) return true;
  ratio_end_pieces(pieces);
  return false;
}

void ratio_end_pieces(uint32_t pieces) { __atomic_fetch_sub(&pieces_made, pieces, __ATOMIC_RELAXED); }

static bool set_pieces(const struct mlrun_place_rule *rule, char *at, const struct ratio_cut *cut,
                       enum bound_pages which) {
  uint64_t from = 0, given = 0;
  for (uint64_t cycle = 0; cycle < cut->cycles; cycle++) {
    for (uint32_t i = 0; i < rule->shares_count; i++) {
      uint64_t to = ratio_end(cut, given += rule->shares[i].share);
      __u64 nodes[MLRUN_PLACE_NODES / 64] = {0};
      nodes[rule->shares[i].node / 64] = 1ull << rule->shares[i].node % 64;
      if (to > from && !bind(at + from * kPageBytes, (to - from) * kPageBytes, rule->policy, nodes, which))
        return false;
      from = to;
    }
  }
  return true;
}

uint32_t ratio_apply(const struct mlrun_place_rule *rule, char *at, uint64_t pages, enum bound_pages which) {
  bool is_huge = rule->flags & MLRUN_PLACE_HUGE, is_few = __atomic_load_n(&pieces_made, __ATOMIC_RELAXED) > kPiecesMany;
  struct ratio_cut cut = cut_by_ratio((uintptr_t)at / kPageBytes, pages, ratio_sum(rule), is_huge, is_few);
  uint32_t pieces = (uint32_t)cut.cycles * rule->shares_count;
  if (!ratio_begin_pieces(pieces)) return 0;
  if (set_pieces(rule, at, &cut, which)) return pieces;
  ratio_end_pieces(pieces);
  return 0;
}

uint32_t ratio_apply_whole(const struct mlrun_place_rule *rule, char *at, size_t bytes, enum bound_pages which) {
  uint64_t turn = __atomic_fetch_add(&whole_mappings, 1, __ATOMIC_RELAXED) % ratio_sum(rule);
  uint32_t i = 0;
  for (; turn >= rule->shares[i].share; i++) turn -= rule->shares[i].share;
  __u64 nodes[MLRUN_PLACE_NODES / 64] = {0};
  nodes[rule->shares[i].node / 64] = 1ull << rule->shares[i].node % 64;
  if (!ratio_begin_pieces(1)) return 0;
  if (bind(at, bytes, rule->policy, nodes, which)) return 1;
  ratio_end_pieces(1);
  return 0;
}

void ratio_undo(char *at, uint32_t pages, uint32_t pieces) {
  const __u64 none[MLRUN_PLACE_NODES / 64] = {0};
  if (is_confined() || !bind(at, (size_t)pages * kPageBytes, MPOL_DEFAULT, none, kNewOnly)) return;
  ratio_end_pieces(pieces);
}
