// SPDX-License-Identifier: Apache-2.0
#include <linux/mempolicy.h>
#include <sys/mman.h>

#include "preload/placement/confinement.h"
#include "preload/placement/heap_parts.h"
#include "preload/placement/ratio.h"

// Pieces of ratios: the kernel allows a process 65,530 mappings, and the program needs some.
enum { kPiecesMany = 16384, kPiecesMax = 32768 };

static uint32_t run_pieces, mapping_pieces;  // mapping_pieces: all ever made, as ends of mappings are not seen
static uint32_t whole_mappings;              // mappings that are on one node each, in turn

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

static uint64_t sum_of_shares(const struct mlrun_place_rule *rule) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < rule->shares_count; i++) all += rule->shares[i].share;
  return all;
}

static bool set_pieces(const struct mlrun_place_rule *rule, char *at, const struct ratio_cut *cut) {
  uint64_t from = 0, given = 0;
  for (uint64_t cycle = 0; cycle < cut->cycles; cycle++) {
    for (uint32_t i = 0; i < rule->shares_count; i++) {
      uint64_t to = ratio_end(cut, given += rule->shares[i].share);
      __u64 nodes[MLRUN_PLACE_NODES / 64] = {0};
      nodes[rule->shares[i].node / 64] = 1ull << rule->shares[i].node % 64;
      if (to > from && !bind(at + from * kPageBytes, (to - from) * kPageBytes, rule->policy, nodes)) return false;
      from = to;
    }
  }
  return true;
}

static uint32_t apply_ratio(const struct mlrun_place_rule *rule, char *at, uint64_t pages, uint32_t *made) {
  bool is_huge = rule->flags & MLRUN_PLACE_HUGE, is_few = __atomic_load_n(made, __ATOMIC_RELAXED) > kPiecesMany;
  struct ratio_cut cut = cut_by_ratio((uintptr_t)at / kPageBytes, pages, sum_of_shares(rule), is_huge, is_few);
  uint32_t pieces = (uint32_t)cut.cycles * rule->shares_count;
  uint32_t before = __atomic_fetch_add(made, pieces, __ATOMIC_RELAXED);
  bool may = !is_confined() && before + pieces <= kPiecesMax;
  if (may && set_pieces(rule, at, &cut)) return pieces;
  __atomic_fetch_sub(made, pieces, __ATOMIC_RELAXED);
  return 0;
}

uint32_t ratio_apply(const struct mlrun_place_rule *rule, char *at, uint32_t pages) {
  return apply_ratio(rule, at, pages, &run_pieces);
}

// Puts all of a mapping on one node. The mappings take turns, so that their numbers have the ratio.
static bool bind_in_turn(const struct mlrun_place_rule *rule, char *at, size_t bytes) {
  uint64_t turn = __atomic_fetch_add(&whole_mappings, 1, __ATOMIC_RELAXED) % sum_of_shares(rule);
  uint32_t i = 0;
  for (; turn >= rule->shares[i].share; i++) turn -= rule->shares[i].share;
  __u64 nodes[MLRUN_PLACE_NODES / 64] = {0};
  nodes[rule->shares[i].node / 64] = 1ull << rule->shares[i].node % 64;
  return !is_confined() && bind(at, bytes, rule->policy, nodes);
}

bool ratio_apply_to_mapping(const struct mlrun_place_rule *rule, char *at, size_t bytes) {
  bool has_room = __atomic_load_n(&mapping_pieces, __ATOMIC_RELAXED) + kCyclesMax * rule->shares_count <= kPiecesMax;
  if (!has_room) return bind_in_turn(rule, at, bytes);
  return apply_ratio(rule, at, (bytes + kPageBytes - 1) / kPageBytes, &mapping_pieces) != 0;
}

void ratio_undo(char *at, uint32_t pages, uint32_t pieces) {
  const __u64 none[MLRUN_PLACE_NODES / 64] = {0};
  if (is_confined() || !bind(at, (size_t)pages * kPageBytes, MPOL_DEFAULT, none)) return;
  __atomic_fetch_sub(&run_pieces, pieces, __ATOMIC_RELAXED);
}
