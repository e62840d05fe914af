// SPDX-License-Identifier: Apache-2.0
#include "cupti/other_clock.h"

#include "cupti/session.h"

struct clock_sample {
  uint64_t theirs, ours_ns;
};

enum { kTries = 5 };

static cupti_timestamp their_clock;
static struct clock_sample first;   // reading at the registration of the tool's clock
static struct other_clock kept[2];  // the newest conversion and the one that is written next
static uint32_t newest;

// Reads both clocks several times; returns the quickest reading, which is the most exact.
static struct clock_sample sample_clock(cupti_timestamp clock) {
  struct clock_sample best = {0, 0};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < kTries; i++) {
    uint64_t before = session.producer->monotonic_ns(), theirs = clock(), after = session.producer->monotonic_ns();
    if (after - before >= least) continue;
    least = after - before;
    best = (struct clock_sample){theirs, before + (after - before) / 2};
  }
  return best;
}

// Overwrites the older conversion. No thread reads it any more: it was replaced a second ago.
static void keep(struct other_clock clock) {
  uint32_t next = __atomic_load_n(&newest, __ATOMIC_RELAXED) + 1;
  kept[next % 2] = clock;
  __atomic_store_n(&newest, next, __ATOMIC_RELEASE);
}

void set_other_clock(cupti_timestamp callback) {
  first = sample_clock(callback);
  __atomic_store_n(&their_clock, callback, __ATOMIC_RELEASE);
  keep((struct other_clock){0});
}

void sample_other_clock(void) {
  cupti_timestamp callback = __atomic_load_n(&their_clock, __ATOMIC_ACQUIRE);
  if (!callback) return;
  struct clock_sample now = sample_clock(callback);
  if (now.theirs <= first.theirs || now.ours_ns <= first.ours_ns) return;
  keep((struct other_clock){true, now.theirs, now.ours_ns,
                            (double)(now.ours_ns - first.ours_ns) / (double)(now.theirs - first.theirs)});
}

struct other_clock other_clock_now(void) {
  return kept[__atomic_load_n(&newest, __ATOMIC_ACQUIRE) % 2];
}

uint64_t from_other_clock(const struct other_clock *clock, uint64_t time) {
  double ns = (double)(int64_t)(time - clock->their_now) * clock->ns_per_unit;
  return clock->our_now_ns + (uint64_t)(int64_t)ns;
}
