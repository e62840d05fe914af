// SPDX-License-Identifier: Apache-2.0
// Handlers of pthread_atfork that allocate, change and free large blocks, registered before any library's constructor has run: of all that is
// registered their first part runs last and their others first. Three threads allocate meanwhile. Ends with 1 if a child hangs or dies.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBlock = 100000, kForks = 40, kThreads = 3 };

static char *kept;
static volatile int over;

static void allocate(size_t bytes) {
  char *block = malloc(bytes);
  memset(block, 1, bytes);
  block = realloc(block, 20 * bytes);
  memset(block, 2, 20 * bytes);
  free(kept);
  kept = block;
}
static void before(void) { allocate(kBlock); }
static void behind(void) { allocate(2 * kBlock); }
static void early(void) { pthread_atfork(before, behind, behind); }
__attribute__((section(".preinit_array"), used)) static void (*first)(void) = early;

static void *work(void *unused) {
  while (!over) free(memset(malloc(kBlock), 3, kBlock));
  return unused;
}

int main(void) {
  int bad = 0, status;
  pthread_t threads[kThreads];
  alarm(60);
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < kForks; i++) {
    pid_t child = fork();
    if (!child) {
      alarm(20);
      allocate(kBlock);
      _exit(kept[0] != 2);
    }
    waitpid(child, &status, 0);
    bad += status != 0;
  }
  over = 1;
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  printf("children that hung or died %d\n", bad);
  return bad != 0;
}
