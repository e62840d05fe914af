// SPDX-License-Identifier: Apache-2.0
#include "cupti/graph_fold.h"

#include "cupti/gpu_record.h"
#include "cupti/session.h"
#include "preload/base/raw_syscall.h"

enum { kPlaces = 4096, kProbes = 8, kTurns = 8, kSpins = 100 };
static const uint64_t kSecond = 1000000000;

// Launches with this correlation id or a later one are folded, or not, until the next turn.
struct turn {
  uint32_t from;
  bool folds;
};

static uint32_t lock;
static struct graph_fold folds[kPlaces];
static uint32_t used;         // number of places in use
static uint64_t node_number;  // number of the last folded node
static uint64_t recorded_at;  // node_number when folds were last recorded

static struct turn turns[kTurns];
static uint32_t turn_count;
static uint64_t level;      // of the token bucket: a node takes kSecond; each ns adds nodes_per_s
static uint64_t latest_ns;  // start of the latest node
static uint32_t latest_correlation;
static bool has_nodes, is_stopped;

// Takes the lock. It is held only for a few instructions, but the holder may be preempted: sleep after some spins.
static void enter(void) {
  for (int i = 0; __atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE); i++) {
    const struct { long s, ns; } pause = {0, 20000};
    if (i >= kSpins) raw_syscall2(SYS_nanosleep, (long)&pause, 0);
  }
}
static void leave(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

// True: `correlation` is `from` or later. Correlation ids wrap at 2^32.
static bool is_from(uint32_t correlation, uint32_t from) { return (int32_t)(correlation - from) >= 0; }

static bool folds_now(void) { return turn_count && turns[(turn_count - 1) % kTurns].folds; }

static void turn_to(bool to_folds, uint32_t correlation) {
  uint32_t from = is_from(latest_correlation, correlation) ? latest_correlation + 1 : correlation;
  turns[turn_count++ % kTurns] = (struct turn){from, to_folds};
}

static bool is_folded(uint32_t correlation) {
  bool folded = false;
  for (uint32_t i = 0; i < kTurns && i < turn_count; i++) {
    const struct turn *turn = &turns[(turn_count - 1 - i) % kTurns];
    if (is_from(correlation, turn->from)) return turn->folds;
    folded = !turn->folds;
  }
  return folded;
}

// Fills the bucket by the start times of the nodes, not by the clock: CUPTI returns the nodes of a second at once.
static void pour(const struct work_time *time, uint64_t per_s) {
  if (time->clock == MLRUN_GPU_CLOCK_NONE || time->clock == MLRUN_GPU_CLOCK_OUTSIDE || time->start_ns <= latest_ns)
    return;
  uint64_t passed = time->start_ns - latest_ns;
  level += (passed < kSecond ? passed : kSecond) * per_s;
  if (level > per_s * kSecond) level = per_s * kSecond;
  latest_ns = time->start_ns;
}

static void begin(const struct graph_node *node, uint64_t per_s) {
  if (has_nodes) return;
  has_nodes = true;
  level = per_s * kSecond;
  latest_correlation = node->correlation - 1;
}

// is_from() compares ids correctly only up to half of their range apart. So the last turn is moved forward when the ids
// get too far ahead of it.
static void keep_turns_near(uint32_t correlation) {
  enum { kNear = 1 << 30 };
  if (!turn_count) return;
  struct turn newest = turns[(turn_count - 1) % kTurns];
  if (!is_from(correlation, newest.from) || correlation - newest.from <= kNear) return;
  turns[0] = (struct turn){correlation - kNear, newest.folds};
  turn_count = 1;
}

static bool choose(const struct graph_node *node, uint64_t per_s) {
  if (is_stopped || !per_s) return !is_stopped;
  begin(node, per_s);
  keep_turns_near(node->correlation);
  pour(&node->time, per_s);
  if (folds_now() && level == per_s * kSecond) turn_to(false, node->correlation);
  bool is_short = level < kSecond;
  if (!folds_now() && is_short) turn_to(true, node->correlation);
  level -= is_short ? level : kSecond;
  if (is_from(node->correlation, latest_correlation)) latest_correlation = node->correlation;
  return is_folded(node->correlation);
}

static bool is_of(const struct graph_fold *fold, const struct graph_node *node) {
  const struct graph_node *first = &fold->first;
  return fold->nodes && first->correlation == node->correlation && first->graph == node->graph &&
         first->device == node->device && first->context == node->context && first->time.clock == node->time.clock;
}

// The place of the node's launch; if it has none, a free place, else the place whose last node is the oldest.
static struct graph_fold *place_of(const struct graph_node *node) {
  uint64_t hash = ((uint64_t)node->graph << 32 | node->correlation) * 0x9e3779b97f4a7c15ull + node->device;
  uint32_t base = (uint32_t)(hash >> 40);
  struct graph_fold *best = NULL;
  for (uint32_t i = 0; i < kProbes; i++) {
    struct graph_fold *fold = &folds[(base + i) % kPlaces];
    if (is_of(fold, node)) return fold;
    if (!best || (best->nodes && (!fold->nodes || fold->last_node < best->last_node))) best = fold;
  }
  return best;
}

static void add_to(struct graph_fold *fold, const struct graph_node *node) {
  struct work_time *time = &fold->first.time;
  if (!fold->nodes) {
    *fold = (struct graph_fold){.first = *node};
    used++;
  }
  if (node->time.start_ns < time->start_ns) time->start_ns = node->time.start_ns;
  if (node->time.end_ns > time->end_ns) time->end_ns = node->time.end_ns;
  fold->busy_ns += node->time.end_ns - node->time.start_ns;
  fold->last_node = ++node_number;
  fold->nodes++;
}

static struct graph_fold take(struct graph_fold *fold) {
  struct graph_fold taken = *fold;
  fold->nodes = 0;
  used--;
  return taken;
}

// The lock is released before a record is written: with --lossless a write may wait.
bool fold_graph_node(const struct graph_node *node) {
  struct graph_fold old = {.nodes = 0};
  enter();
  bool folded = choose(node, session.producer->graph_nodes_per_s());
  if (folded) {
    struct graph_fold *fold = place_of(node);
    if (fold->nodes && !is_of(fold, node)) old = take(fold);
    add_to(fold, node);
  }
  leave();
  if (old.nodes) put_fold(&old);
  return folded;
}

void stop_folding(void) {
  enter();
  is_stopped = true;
  leave();
}

uint64_t put_folds(bool everything) {
  uint64_t held_since = UINT64_MAX;
  enter();
  uint64_t quiet_since = everything ? node_number : recorded_at;
  recorded_at = node_number;
  for (uint32_t i = 0; i < kPlaces && used; i++) {
    struct graph_fold *fold = &folds[i];
    if (!fold->nodes) continue;
    if (fold->last_node > quiet_since) {
      if (fold->first.time.start_ns < held_since) held_since = fold->first.time.start_ns;
      continue;
    }
    struct graph_fold taken = take(fold);
    leave();
    put_fold(&taken);
    enter();
  }
  leave();
  return held_since;
}
