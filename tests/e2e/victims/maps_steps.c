// SPDX-License-Identifier: Apache-2.0
// Steps through mmap, one instruction at a time, in a process with two threads. A signal handler at each step maps and unmaps memory too. Prints how
// many mappings of 8 MiB it made, and how many steps there were.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kSize = 8 << 20, kTimes = 4, kSeconds = 60 };

static int steps;

static void *map(void) {
  void *at = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) _exit(3);
  return at;
}

static void step(int signal) {
  (void)signal;
  steps++;
  munmap(map(), kSize);
}

static void *wait_for_end(void *nothing) {
  for (;;) pause();
  return nothing;
}

int main(void) {
  struct sigaction action = {.sa_handler = step};
  pthread_t other;
  alarm(kSeconds);
  sigaction(SIGTRAP, &action, NULL);
  if (pthread_create(&other, NULL, wait_for_end, NULL)) return 2;
  for (int i = 0; i < kTimes; i++) {
    __asm__ volatile("subq $128, %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n addq $128, %%rsp" ::: "cc", "memory");
    void *at = map();
    __asm__ volatile("subq $128, %%rsp\n pushfq\n andq $-0x101, (%%rsp)\n popfq\n addq $128, %%rsp" ::: "cc", "memory");
    munmap(at, kSize);
  }
  printf("%d %d\n", kTimes + steps, steps);
  return 0;
}
