// SPDX-License-Identifier: Apache-2.0
// Tests folding of graph nodes: in any order, from several threads and for several launches at once, each node is in
// one record, and a launch is recorded either by its nodes or as a whole.
#include "cupti/graph_fold.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/gpu_record.h"
#include "cupti/session.h"

enum { kThreads = 4, kLaunches = 20000, kNodes = 50, kNodeNs = 10 };
static const uint64_t kSecond = 1000000000;

struct session session;
static uint32_t rate;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t in_folds[kLaunches], in_rows[kLaunches], pieces;
static uint64_t first_ns[kLaunches], last_ns[kLaunches];

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      exit(1);                                                \
    }                                                         \
  } while (0)

static uint32_t graph_nodes_per_s(void) { return rate; }
static const struct mlrun_producer producer = {.graph_nodes_per_s = graph_nodes_per_s};

void put_fold(const struct graph_fold *fold) {
  pthread_mutex_lock(&lock);
  uint32_t launch = fold->first.correlation % kLaunches;
  CHECK(fold->busy_ns == (uint64_t)fold->nodes * kNodeNs && fold->first.time.end_ns > fold->first.time.start_ns);
  in_folds[launch] += fold->nodes;
  if (!first_ns[launch] || fold->first.time.start_ns < first_ns[launch]) first_ns[launch] = fold->first.time.start_ns;
  if (fold->first.time.end_ns > last_ns[launch]) last_ns[launch] = fold->first.time.end_ns;
  pieces++;
  pthread_mutex_unlock(&lock);
}

static void add(uint32_t correlation, uint64_t start_ns) {
  struct graph_node node = {.graph = 3, .correlation = correlation, .time = {start_ns, start_ns + kNodeNs, 0}};
  if (!fold_graph_node(&node)) __atomic_add_fetch(&in_rows[correlation % kLaunches], 1, __ATOMIC_RELAXED);
}

static void begin(uint32_t nodes_per_s) {
  rate = nodes_per_s;
  pieces = 0;
  memset(in_folds, 0, sizeof in_folds);
  memset(in_rows, 0, sizeof in_rows);
  memset(first_ns, 0, sizeof first_ns);
  memset(last_ns, 0, sizeof last_ns);
}

// Every node of every launch, in an order that mixes launches and runs backwards within them.
static void *add_share(void *argument) {
  uint32_t share = (uint32_t)(uintptr_t)argument;
  for (uint32_t node = kNodes; node--;)
    for (uint32_t i = share; i < kLaunches; i += kThreads) add(i, kSecond + i * kNodes + node);
  return NULL;
}

static void check_all_folded(void) {
  begin(0);
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, add_share, (void *)i);
  for (int i = 0; i < 100; i++) put_folds(i % 2);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  CHECK(put_folds(true) == UINT64_MAX);
  CHECK(pieces >= kLaunches);
  for (uint32_t i = 0; i < kLaunches; i++) {
    CHECK(in_folds[i] == kNodes && !in_rows[i]);
    CHECK(first_ns[i] == kSecond + i * kNodes && last_ns[i] == kSecond + i * kNodes + kNodes - 1 + kNodeNs);
  }
}

// A launch is recorded once, after a round without new nodes.
static void check_quiet(void) {
  begin(0);
  add(7, 5 * kSecond);
  CHECK(put_folds(false) == 5 * kSecond && !pieces);
  add(7, 4 * kSecond);
  CHECK(put_folds(false) == 4 * kSecond && !pieces);
  CHECK(put_folds(false) == UINT64_MAX && pieces == 1 && in_folds[7] == 2);
}

// At 1000 nodes a second: those of a thousand launches at once are beyond it, and two seconds later one is below.
static void check_rate(void) {
  begin(1000);
  uint64_t now = 100 * kSecond;
  uint32_t first = UINT32_MAX - 499;  // the ids wrap around
  for (uint32_t i = 0; i < 1000; i++)
    for (uint32_t node = 0; node < kNodes; node++) add(first + i, now += 100);
  for (uint32_t node = 0; node < kNodes; node++) add(first + 1000, now + 2 * kSecond);
  add(first + 999, now + 2 * kSecond);  // it began while launches were folded
  put_folds(true);
  uint32_t rows = 0;
  for (uint32_t i = 0; i <= 1000; i++) {
    uint32_t launch = (first + i) % kLaunches, nodes = i == 999 ? kNodes + 1 : kNodes;
    CHECK(in_rows[launch] == nodes || in_folds[launch] == nodes);
    rows += in_rows[launch];
  }
  CHECK(rows == 1000 / kNodes * kNodes + kNodes || rows == 1000 / kNodes * kNodes + 2 * kNodes);
  CHECK(in_rows[(first + 1000) % kLaunches] == kNodes && in_folds[(first + 999) % kLaunches] == kNodes + 1);
}

// Runs until ids are reused.
static void check_far(void) {
  begin(1000);
  uint64_t now = 1000 * kSecond;
  for (uint32_t step = 0; step < 12; step++) {
    uint32_t id = 1 + step * (1u << 29);
    for (uint32_t i = 0; i < 2000; i++) add(id, now += 100);
    if (step) CHECK(in_rows[id % kLaunches] == 0);
  }
  put_folds(true);
}

static void check_stopped(void) {
  begin(0);
  add(1, kSecond);
  stop_folding();
  add(1, kSecond);
  CHECK(put_folds(true) == UINT64_MAX && in_folds[1] == 1 && in_rows[1] == 1);
}

int main(void) {
  session.producer = &producer;
  check_all_folded();
  check_quiet();
  check_rate();
  check_far();
  check_stopped();
  return 0;
}
