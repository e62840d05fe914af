// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/site_answers.h"

enum { kSetBits = 10, kSets = 1 << kSetBits, kWays = 4, kMatches = 1, kKnown = 2 };

// {question | known 1 | matches 1}; the newest of a set first.
static uint64_t answers[kSets][kWays];

static uint64_t *set_of(site_question question) {
  return answers[(question >> 2) * 0x9e3779b97f4a7c15ull >> (64 - kSetBits)];
}

enum site_answer find_site_answer(site_question question) {
  const uint64_t *set = set_of(question);
  for (int way = 0; way < kWays; way++) {
    uint64_t answer = __atomic_load_n(&set[way], __ATOMIC_RELAXED);
    if (answer == (question | kKnown)) return SITE_MATCHES_NOT;
    if (answer == (question | kKnown | kMatches)) return SITE_MATCHES;
  }
  return SITE_UNKNOWN;
}

// The oldest of the set is evicted. Where two threads do this at once, an answer can be lost or be there twice.
void keep_site_answer(site_question question, bool matches) {
  uint64_t *set = set_of(question);
  if (!question) return;
  for (int way = kWays - 1; way > 0; way--)
    __atomic_store_n(&set[way], __atomic_load_n(&set[way - 1], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  __atomic_store_n(&set[0], question | kKnown | (matches ? kMatches : 0), __ATOMIC_RELAXED);
}
