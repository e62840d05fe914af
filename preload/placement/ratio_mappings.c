// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/ratio_mappings.h"

#include "preload/placement/pages.h"
#include "preload/placement/window.h"

enum { kEntryBits = 13, kEntries = 1 << kEntryBits, kReach = 16, kPiecesBits = 16, kRuleBits = 6, kAddressBits = 47 };
_Static_assert(MLRUN_PLACE_RULES <= 1 << kRuleBits, "a rule fits");

// word: {first page 35 | rule 6 | pieces 16}, 0: free. A mapping is in one of kReach entries from the hash of its first page on.
static struct entry { uint64_t word, bytes; } entries[kEntries];

static bool can_move_pieces;

void ratio_mappings_open(void) {
  char *from = pages_map(NULL, kPageBytes), *to = pages_map(NULL, kPageBytes);
  can_move_pieces = from && to && pages_move(from, kPageBytes, to);
  if (from) pages_unmap(from, kPageBytes);
  if (to) pages_unmap(to, kPageBytes);
}

static size_t whole_pages(size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

static uint64_t word_of(const void *at, uint32_t rule, uint32_t pieces) {
  return (uint64_t)at >> kPageBits << (kRuleBits + kPiecesBits) | (uint64_t)rule << kPiecesBits | pieces;
}

static struct ratio_mapping mapping_of(uint64_t word) {
  return (struct ratio_mapping){word >> kPiecesBits & ((1 << kRuleBits) - 1), word & ((1 << kPiecesBits) - 1)};
}

static struct entry *entry_near(const void *at, uint32_t i) {
  uint64_t hash = ((uint64_t)at >> kPageBits) * 0x9e3779b97f4a7c15 >> (64 - kEntryBits);
  return &entries[(hash + i) % kEntries];
}

// The entry of the mapping that begins there; null: none does.
static struct entry *find(const void *at, uint64_t *word) {
  for (uint32_t i = 0; i < kReach; i++) {
    struct entry *entry = entry_near(at, i);
    *word = __atomic_load_n(&entry->word, __ATOMIC_ACQUIRE);
    if (*word && *word >> (kRuleBits + kPiecesBits) == (uint64_t)at >> kPageBits) return entry;
  }
  return NULL;
}

// A free entry, which is taken then. Null: there is none.
static struct entry *new_entry(const void *at, uint32_t rule) {
  for (uint32_t i = 0; i < kReach && !((uint64_t)at >> kAddressBits); i++) {
    struct entry *entry = entry_near(at, i);
    uint64_t none = 0;
    if (__atomic_compare_exchange_n(&entry->word, &none, word_of(at, rule, 0), false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      return entry;
  }
  return NULL;
}

static void fill_entry(struct entry *entry, const void *at, size_t bytes, const struct ratio_mapping *mapping) {
  entry->bytes = whole_pages(bytes);
  uint64_t word = mapping->pieces ? word_of(at, mapping->rule, mapping->pieces) : 0;
  __atomic_store_n(&entry->word, word, __ATOMIC_RELEASE);
}

struct ratio_mapping ratio_mapping_take(const void *at, size_t bytes) {
  uint64_t word;
  struct entry *entry = (uintptr_t)at % kPageBytes ? NULL : find(at, &word);
  if (!entry || entry->bytes > whole_pages(bytes)) return (struct ratio_mapping){0};
  if (!__atomic_compare_exchange_n(&entry->word, &word, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return (struct ratio_mapping){0};
  return mapping_of(word);
}

bool ratio_mapping_place(uint32_t number, const struct mlrun_place_rule *rule, char *at, size_t bytes,
                         enum bound_pages which) {
  struct ratio_mapping gone = ratio_mapping_take(at, SIZE_MAX / 2), mapping = {number, 0};  // gone in a way not seen
  ratio_end_pieces(gone.pieces);
  struct entry *entry = new_entry(at, number);
  if (!entry) return false;
  if (can_move_pieces) mapping.pieces = ratio_apply(rule, at, whole_pages(bytes) / kPageBytes, which);
  if (!mapping.pieces) mapping.pieces = ratio_apply_whole(rule, at, bytes, which);
  fill_entry(entry, at, bytes, &mapping);
  return mapping.pieces != 0;
}

void ratio_mapping_put(const struct ratio_mapping *mapping, const void *at, size_t bytes) {
  struct entry *entry = mapping->pieces ? new_entry(at, mapping->rule) : NULL;
  if (entry) fill_entry(entry, at, bytes, mapping);
}
