// SPDX-License-Identifier: Apache-2.0
// Steps through malloc and free of a block that was just freed, one instruction at a time: places_steps CASE FIRST. A signal handler at each step
//   allocates  takes and frees blocks
//   forks      forks; the child returns into the interrupted call
//   inside     the same without an allocation, in a free and a malloc that the cache of freed blocks cannot serve
//   beside     `inside` in a process with another thread
//   cached     `forks` in a process with another thread
//   jumps      leaves it by siglongjmp, in a process of its own for each step; then two threads allocate
// Every block must keep what its owner wrote. All but the first begin with step FIRST and do a hundred. Prints how many steps were done, and in how
// many of them a process did not end well.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSize = 64 << 10, kHeld = 4, kBlocks = 24, kMany = 400, kStepsAtOnce = 100, kSeconds = 60 };

static int steps, chosen;
static sigjmp_buf left;
static char *volatile held[kHeld];  // blocks of the handler

static char *make(size_t size, int with) {
  char *block = malloc(size);
  if (!block) _exit(3);
  memset(block, with, size);
  return block;
}

static void end(char *block, size_t size, int with) {
  for (size_t i = 0; i < size; i++)
    if (block[i] != (char)with) _exit(4);
  free(block);
}

static void exchange(int signal) {
  int at = steps++ % kHeld;
  if (held[at]) end(held[at], (size_t)kSize * (1 + at), signal + at);
  held[at] = make((size_t)kSize * (1 + at), signal + at);
}

static void fork_here(int signal) {
  if (steps++ == chosen && !fork()) held[0] = make(kSize, signal);
}

static void fork_only(int signal) {
  (void)signal;
  if (steps++ == chosen && !fork()) alarm(kSeconds);  // the child has none of its parent's
}

static void jump(int signal) {
  if (steps++ == chosen) siglongjmp(left, signal);
}

static void step_from_here(void) {
  __asm__ volatile("subq $128, %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n addq $128, %%rsp" ::: "cc", "memory");
}
static void step_no_more(void) {
  __asm__ volatile("subq $128, %%rsp\n pushfq\n andq $-0x101, (%%rsp)\n popfq\n addq $128, %%rsp" ::: "cc", "memory");
}

static void begin(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  for (int i = 0; i < kBlocks; i++) end(make(kSize, i), kSize, i);  // the block that the steps take was freed before
  sigaction(SIGTRAP, &action, NULL);
  steps = 0;
}

static void take_stepwise(void) {
  step_from_here();
  char *block = malloc(kSize);
  step_no_more();
  if (!block) _exit(3);
  memset(block, 9, kSize);
  for (size_t i = 0; i < kSize; i++)
    if (block[i] != 9) _exit(4);
  step_from_here();
  free(block);
  step_no_more();
}

// Blocks of many sizes that are alive together.
static void *use(void *seed) {
  char *blocks[kBlocks];
  for (int i = 0; i < kBlocks; i++) blocks[i] = make((size_t)kSize * (1 + i % 5), i + (int)(intptr_t)seed);
  for (int i = 0; i < kBlocks; i++) end(blocks[i], (size_t)kSize * (1 + i % 5), i + (int)(intptr_t)seed);
  return NULL;
}

static void allocates(void) {
  begin(exchange);
  for (int i = 0; i < kHeld; i++) take_stepwise();
  use(NULL);
}

static void use_in_threads(void) {
  pthread_t threads[2];
  for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, use, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void forks(void) {
  pid_t self = getpid();
  begin(fork_here);
  take_stepwise();
  use_in_threads();
  if (held[0]) end(held[0], kSize, SIGTRAP);
  if (getpid() != self) _exit(steps > chosen ? 0 : 2);
  int status;
  if (wait(&status) > 0 && status) _exit(5);
}

// More blocks than the heap keeps once they are freed. Each has its number at both ends.
static void use_many(void) {
  static int *blocks[kMany];
  enum { kLast = kSize / sizeof(int) - 1 };
  for (int i = 0; i < kMany; i++) {
    if (!(blocks[i] = malloc(kSize))) _exit(3);
    blocks[i][0] = blocks[i][kLast] = i;
  }
  for (int i = 0; i < kMany; i++) {
    if (blocks[i][0] != i || blocks[i][kLast] != i) _exit(4);
    free(blocks[i]);
  }
}

static void inside(void) {
  pid_t self = getpid();
  char *blocks[kBlocks];
  begin(fork_only);
  for (int i = 0; i < kBlocks; i++) blocks[i] = make(kSize, i);
  for (int i = 1; i < kBlocks; i++) end(blocks[i], kSize, i);  // they fill the cache
  step_from_here();
  free(blocks[0]);
  char *block = malloc(2 * kSize);
  step_no_more();
  if (!block) _exit(3);
  for (int round = 0; round < 3; round++) use_many();
  free(block);
  use_in_threads();
  if (getpid() != self) _exit(0);
  int status;
  if (wait(&status) > 0 && status) _exit(5);
}

static void *wait_for_the_end(void *none) {
  for (;;) pause();
  return none;
}

static void begin_thread(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, wait_for_the_end, NULL)) _exit(6);
}

static void beside(void) {
  begin_thread();
  inside();
}

static void cached(void) {
  begin_thread();
  forks();
}

static void jumps(void) {
  begin(jump);
  if (!sigsetjmp(left, 1)) take_stepwise();
  use(NULL);
  use_in_threads();
}

// Runs `todo` for a hundred steps, in a process of its own each. Returns how many did not end well.
static int at_each_step(void (*todo)(void)) {
  int bad = 0, status, first = chosen;
  for (; chosen < first + kStepsAtOnce; chosen++) {
    pid_t child = fork();
    if (!child) {
      alarm(kSeconds);
      todo();
      _exit(steps > chosen ? 0 : 1);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1) break;  // there is no such step
    if (status) bad++;
  }
  steps = chosen - first;
  return bad;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  chosen = atoi(argv[2]);
  int bad = 0;
  if (!strcmp(argv[1], "allocates")) allocates();
  if (!strcmp(argv[1], "forks")) bad = at_each_step(forks);
  if (!strcmp(argv[1], "inside")) bad = at_each_step(inside);
  if (!strcmp(argv[1], "beside")) bad = at_each_step(beside);
  if (!strcmp(argv[1], "cached")) bad = at_each_step(cached);
  if (!strcmp(argv[1], "jumps")) bad = at_each_step(jumps);
  printf("%d %d\n", steps, bad);
  return 0;
}
