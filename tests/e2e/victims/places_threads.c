// SPDX-License-Identifier: Apache-2.0
// Threads with large blocks of their own and of each other, and what the program itself counts of them: places_threads CASE. Ends by SIGKILL, so that
// nothing is written at its end.
//   counts    four threads allocate and free, two more free what two others allocate, the process forks meanwhile; "matches bytes alive wrong"
//   turns     four threads, one behind the other, have five blocks alive; together: at the same time. "peak"
//   kept      eight threads free what the thread behind them has allocated, 16 MiB each; "MiB that stay resident, beyond those before"
//   inherits  a child begins when its parent has freed what both had; "alive in the child"
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  kPage = 4096,
  kLeast = 64 << 10,
  kRounds = 4000,
  kQueue = 8,
  kForks = 12,
  kEach = 5,
  kSize = 100000,
  kKept = 32,
  kMiB = 1 << 20
};
struct block {
  size_t bytes;
  unsigned char mark;
};
static _Atomic(struct block *) queues[2][kQueue];
static atomic_long matches, bytes_asked, alive, wrong;
static atomic_int over;
static pthread_barrier_t together;
static int gate[2];

static long pages_of(size_t bytes) { return (long)((bytes + kPage - 1) / kPage * kPage); }

static struct block *make(size_t bytes, unsigned mark) {
  struct block *block = malloc(bytes);
  matches++;
  bytes_asked += (long)bytes;
  alive += pages_of(bytes);
  block->bytes = bytes;
  block->mark = (unsigned char)mark;
  for (size_t at = sizeof *block; at < bytes; at += kPage) ((unsigned char *)block)[at] = block->mark;
  return block;
}
static void end(struct block *block) {
  for (size_t at = sizeof *block; at < block->bytes; at += kPage) wrong += ((unsigned char *)block)[at] != block->mark;
  alive -= pages_of(block->bytes);
  free(block);
}

static void *own(void *number) {
  unsigned seed = (unsigned)(size_t)number;
  struct block *kept[3] = {NULL};
  for (int i = 0; i < kRounds; i++) {
    struct block **one = &kept[rand_r(&seed) % 3];
    if (*one) end(*one);
    *one = make(kLeast + (rand_r(&seed) % 4 ? 0 : (size_t)rand_r(&seed) % 600000), seed);
  }
  return NULL;  // three stay alive
}
static void *produce(void *queue) {
  for (int i = 0; i < kRounds; i++) {
    struct block *block = make(kLeast + (size_t)(i % 3) * 5000, (unsigned)i);
    while (atomic_load(&((_Atomic(struct block *) *)queue)[i % kQueue])) sched_yield();
    atomic_store(&((_Atomic(struct block *) *)queue)[i % kQueue], block);
  }
  return NULL;
}
static void *consume(void *queue) {
  for (int i = 0; i < kRounds; i++) {
    struct block *block;
    while (!(block = atomic_exchange(&((_Atomic(struct block *) *)queue)[i % kQueue], NULL))) sched_yield();
    end(block);
  }
  return NULL;
}
static void *in_child(void *unused) {
  for (int i = 0; i < 50; i++) end(make(kLeast + (size_t)i * 1000, 5));
  return unused;
}
// Children with two threads, while the parent's are anywhere in the allocator.
static void *fork_on(void *unused) {
  for (int i = 0; i < kForks && !over; i++) {
    pid_t child = fork();
    if (!child) {
      pthread_t thread;
      alarm(60);
      wrong = 0;
      pthread_create(&thread, NULL, in_child, NULL);
      in_child(NULL);
      pthread_join(thread, NULL);
      _exit(wrong != 0);
    }
    int status;
    waitpid(child, &status, 0);
    wrong += status != 0;
  }
  return unused;
}
static void counts(void) {
  pthread_t threads[9];
  for (size_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, own, (void *)(i + 1));
  for (size_t i = 0; i < 4; i++) pthread_create(&threads[4 + i], NULL, i % 2 ? consume : produce, queues[i / 2]);
  pthread_create(&threads[8], NULL, fork_on, NULL);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  over = 1;
  pthread_join(threads[8], NULL);
  printf("%ld %ld %ld %ld\n", matches, bytes_asked, alive, wrong);
}

static void *have_five(void *unused) {
  struct block *blocks[kEach];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < kEach; i++) blocks[i] = make(kSize, 1);
    if (unused) pthread_barrier_wait(unused);
    for (int i = 0; i < kEach; i++) end(blocks[i]);
    if (unused) pthread_barrier_wait(unused);
  }
  return unused;
}
static void peak(int at_once) {
  pthread_t threads[4];
  pthread_barrier_init(&together, NULL, 4);
  for (int i = 0; i < 4; i++) {
    pthread_create(&threads[i], NULL, have_five, at_once ? &together : NULL);
    if (!at_once) pthread_join(threads[i], NULL);
  }
  for (int i = 0; i < 4 && at_once; i++) pthread_join(threads[i], NULL);
  printf("%ld\n", (at_once ? 4 : 1) * kEach * pages_of(kSize));
}

static long resident_mib(void) {
  long size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2) exit(5);
  fclose(file);
  return pages / 256;
}
static struct block *rows[9][kKept];
static void *pass_on(void *argument) {
  size_t row = (size_t)argument;
  for (int i = 0; i < kKept; i++) rows[row][i] = make(kMiB / 2, 2);
  pthread_barrier_wait(&together);
  for (int i = 0; i < kKept; i++) end(rows[(row + 1) % 8][i]);
  for (int i = 0; i < 2; i++) end(make(kMiB / 2, 2));
  return NULL;
}
static void kept(void) {
  pthread_t threads[8];
  long before = resident_mib();
  pthread_barrier_init(&together, NULL, 8);
  for (size_t i = 0; i < 8; i++) pthread_create(&threads[i], NULL, pass_on, (void *)i);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  printf("%ld\n", resident_mib() - before);
}

static void wait_for_parent(void) {
  char byte;
  read(gate[0], &byte, 1);
}
static void early(void) {
  if (pipe(gate) == 0) pthread_atfork(NULL, NULL, wait_for_parent);
}
__attribute__((section(".preinit_array"), used)) static void (*first)(void) = early;

static void *have_some(void *argument) {
  for (int i = 0; i < kEach; i++) ((struct block **)argument)[i] = make(kSize, 3);
  for (int i = 0; i < 3; i++) end(make(2 * kSize, 3));  // its cache has one
  return NULL;
}
static void inherits(void) {
  struct block *blocks[kEach];
  pthread_t thread;
  pthread_create(&thread, NULL, have_some, blocks);
  pthread_join(thread, NULL);
  pid_t child = fork();
  if (!child) {
    end(blocks[0]);
    make(kSize, 4);
    printf("%d %ld\n", getpid(), alive);
    fflush(stdout);
    _exit(0);
  }
  for (int i = 0; i < kEach; i++) end(blocks[i]);
  write(gate[1], "", 1);
  waitpid(child, NULL, 0);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "inherits")) {
    for (int i = 0; i < kForks; i++) write(gate[1], "", 1);  // children do not wait
  }
  if (!strcmp(what, "counts")) counts();
  if (!strcmp(what, "turns")) peak(0);
  if (!strcmp(what, "together")) peak(1);
  if (!strcmp(what, "kept")) kept();
  if (!strcmp(what, "inherits")) inherits();
  fflush(stdout);
  kill(getpid(), SIGKILL);
}
