// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/ratio_mappings.h"

#include "preload/placement/pages.h"
#include "preload/placement/window.h"

enum { kEntryBits = 13, kEntries = 1 << kEntryBits, kReach = 16, kPiecesBits = 16, kRuleBits = 6, kAddressBits = 47 };
_Static_assert(MLRUN_PLACE_RULES <= 1 << kRuleBits, "a rule fits");

// word: {first page 35 | rule 6 | pieces 16}, 0: free; without pieces: a thread is changing it. A mapping is in one of kReach entries from the hash of
// its first page on.
static struct entry { uint64_t word, bytes; } entries[kEntries];
static uint64_t used[kEntries / 64];  // one bit for each entry that is not free
static uint32_t entries_used;

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

static void mark_used(const struct entry *entry) {
  uint32_t number = (uint32_t)(entry - entries);
  __atomic_fetch_or(&used[number / 64], 1ull << number % 64, __ATOMIC_RELAXED);
  __atomic_fetch_add(&entries_used, 1, __ATOMIC_RELAXED);
}

// Takes an entry out of what other threads find. False: one was faster.
static bool claim(struct entry *entry, uint64_t word) {
  uint64_t none = word >> kPiecesBits << kPiecesBits;
  return word != none &&
         __atomic_compare_exchange_n(&entry->word, &word, none, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void make_free(struct entry *entry) {
  uint32_t number = (uint32_t)(entry - entries);
  __atomic_fetch_and(&used[number / 64], ~(1ull << number % 64), __ATOMIC_RELAXED);
  __atomic_fetch_sub(&entries_used, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->word, 0, __ATOMIC_RELEASE);
}

// A free entry, which is taken then, but not found. Null: there is none.
static struct entry *new_entry(const void *at, uint32_t rule) {
  for (uint32_t i = 0; i < kReach && !((uint64_t)at >> kAddressBits); i++) {
    struct entry *entry = entry_near(at, i);
    uint64_t none = 0;
    if (__atomic_compare_exchange_n(&entry->word, &none, word_of(at, rule, 0), false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      mark_used(entry);
      return entry;
    }
  }
  return NULL;
}

static void fill_entry(struct entry *entry, const void *at, size_t bytes, const struct ratio_mapping *mapping) {
  if (!mapping->pieces) {
    make_free(entry);
    return;
  }
  entry->bytes = whole_pages(bytes);
  __atomic_store_n(&entry->word, word_of(at, mapping->rule, mapping->pieces), __ATOMIC_RELEASE);
}

struct ratio_mapping ratio_mapping_take(const void *at, size_t bytes) {
  uint64_t word;
  struct entry *entry = (uintptr_t)at % kPageBytes ? NULL : find(at, &word);
  if (!entry || entry->bytes > whole_pages(bytes) || !claim(entry, word)) return (struct ratio_mapping){0};
  make_free(entry);
  return mapping_of(word);
}

static uint32_t share_of(uint32_t pieces, uint64_t part, uint64_t bytes) {
  return (uint32_t)((pieces * part + bytes - 1) / bytes);
}

// Ends what of the entry's mapping is in [from, to). What is left in front and behind gets entries of its own, with its part of the pieces.
static void cut_out(struct entry *entry, uint64_t from, uint64_t to) {
  uint64_t word = __atomic_load_n(&entry->word, __ATOMIC_ACQUIRE), bytes = entry->bytes;
  uint64_t start = word >> (kRuleBits + kPiecesBits) << kPageBits, end = start + bytes;
  if (start >= to || end <= from || !claim(entry, word)) return;
  make_free(entry);
  struct ratio_mapping all = mapping_of(word), before = {all.rule, 0}, behind = {all.rule, 0};
  if (start < from) before.pieces = share_of(all.pieces, from - start, bytes);
  if (to < end) behind.pieces = share_of(all.pieces, end - to, bytes);
  if (behind.pieces > all.pieces - before.pieces) behind.pieces = all.pieces - before.pieces;
  ratio_mapping_put(&before, (void *)start, from - start);
  ratio_mapping_put(&behind, (void *)to, end - to);
  ratio_end_pieces(all.pieces - before.pieces - behind.pieces);
}

void ratio_mappings_end(const void *at, size_t bytes) {
  uint64_t from = (uint64_t)at, to = from + whole_pages(bytes), word;
  if (!__atomic_load_n(&entries_used, __ATOMIC_RELAXED) || from % kPageBytes || to <= from) return;
  struct entry *whole = find(at, &word);
  if (whole && whole->bytes == to - from) {
    cut_out(whole, from, to);
    return;
  }
  for (uint32_t i = 0; i < kEntries / 64; i++)
    for (uint64_t left = __atomic_load_n(&used[i], __ATOMIC_RELAXED); left; left &= left - 1)
      cut_out(&entries[i * 64 + (uint32_t)__builtin_ctzll(left)], from, to);
}

bool ratio_mapping_place(uint32_t number, const struct mlrun_place_rule *rule, char *at, size_t bytes,
                         enum bound_pages which) {
  struct ratio_mapping mapping = {number, 0};
  ratio_mappings_end(at, bytes);  // of those that are gone in a way not seen
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
