// SPDX-License-Identifier: Apache-2.0
// Allocates at the end of known chains of calls; prints the stack of each block of TAG + 10,000 bytes, from
// backtrace(), or from the frame pointers where there is no unwind information. Usage: stacks CHAIN
#include "tests/preload/victims/stacks.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#ifdef BY_FRAME_POINTERS
extern char __executable_start, etext;
static inline __attribute__((always_inline)) int find_stack(void **frames) {
  int count = 0;
  for (void **frame = __builtin_frame_address(0); count < 100; frame = frame[0]) {
    if ((char *)frame[1] < &__executable_start || (char *)frame[1] >= &etext) break;  // libc keeps none
    frames[count++] = frame[1];
  }
  return count;
}
#else
#define find_stack(frames) backtrace(frames, 400)
#endif

static void print_stack(int tag, void **frames, int count) {
  printf("stack %d", tag);
  for (int i = 0; i < count; i++) printf(" %p", frames[i]);
  printf("\n");
}

void leaf(int tag) {
  static void *frames[400];
  void *block = malloc(10000 + (size_t)tag);
  int count = find_stack(frames);
  print_stack(tag, frames, count);
  free(block);
}

// Its caller cannot be unwound: backtrace() would crash.
static void leaf_of_strange_code(int tag) {
  void *frames[2] = {leaf_of_strange_code, __builtin_return_address(0)};
  free(malloc(10000 + (size_t)tag));
  print_stack(tag, frames, 2);
}

static void middle(int tag) { leaf(tag), KEEP_FRAME; }
static void outer(int tag) { middle(tag), KEEP_FRAME; }

static int compare(const void *a, const void *b) {
  static int calls;
  if (!calls++) leaf(2), KEEP_FRAME;
  return *(const int *)a - *(const int *)b;
}
static void sorted(void) {
  int numbers[3] = {3, 1, 2};
  qsort(numbers, 3, sizeof *numbers, compare), KEEP_FRAME;
}

static void handle(int signal) { leaf(signal), KEEP_FRAME; }
static void from_handler(int flags) {
  stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&other, NULL);
  struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1), KEEP_FRAME;
}

static void *in_thread(void *tag) {
  outer(*(int *)tag), KEEP_FRAME;
  return NULL;
}
static void threaded(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, &(int){4});
  pthread_join(thread, NULL);
}

static int deep(int depth) {
  if (depth) return deep(depth - 1) + 1;
  leaf(5), KEEP_FRAME;
  return 0;
}

static void variable(int bytes) {
  volatile char *space = __builtin_alloca(bytes), fixed[bytes];
  space[bytes - 1] = fixed[0] = 1;
  outer(6), KEEP_FRAME;
  space[0] = fixed[bytes - 1];
}
static __attribute__((noinline, target("avx"))) void realigned(int bytes) {
  volatile float vector[8] __attribute__((aligned(64))) = {1};
  volatile char space[bytes];
  space[0] = (char)vector[0];
  outer(7), KEEP_FRAME;
  vector[1] = space[bytes - 1];
}

static ucontext_t coroutine, back;
static void in_context(void) { outer(8), KEEP_FRAME; }
static void on_other_stack(void) {
  getcontext(&coroutine);
  coroutine.uc_stack = (stack_t){.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
  coroutine.uc_link = &back;
  makecontext(&coroutine, in_context, 0);
  swapcontext(&back, &coroutine);
}

int main(int argc, char **argv) {
  const char *chain = argc > 1 ? argv[1] : "";
  void *warm_up[2];
  backtrace(warm_up, 2);
  if (!strcmp(chain, "nested")) outer(1), KEEP_FRAME;
  if (!strcmp(chain, "callback")) sorted(), KEEP_FRAME;
  if (!strcmp(chain, "handler")) from_handler(0), KEEP_FRAME;
  if (!strcmp(chain, "other_stack_handler")) from_handler(SA_ONSTACK), KEEP_FRAME;
  if (!strcmp(chain, "thread")) threaded(), KEEP_FRAME;
  if (!strcmp(chain, "deep")) deep(300), KEEP_FRAME;
  if (!strcmp(chain, "variable")) variable(argc * 1000), KEEP_FRAME;
  if (!strcmp(chain, "realigned")) realigned(argc * 1000), KEEP_FRAME;
  if (!strcmp(chain, "context")) on_other_stack(), KEEP_FRAME;
  if (!strcmp(chain, "library")) through_library(outer, 9), KEEP_FRAME;
  if (!strcmp(chain, "exception")) through_exception(outer, 11), KEEP_FRAME;
  if (!strcmp(chain, "strange")) through_strange_code(leaf_of_strange_code), KEEP_FRAME;
  return 0;
}
