// SPDX-License-Identifier: Apache-2.0
// silent_threads: three threads that compute for some milliseconds and make no call of libc's. Each is joined while it
// computes. Prints their numbers.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long numbers[3];
static volatile int go[3];

static long number(void) {
  long result = SYS_gettid;
  __asm__ volatile("syscall" : "+a"(result)::"rcx", "r11", "memory");
  return result;
}

static void *computes(void *at) {
  long which = (long)at;
  numbers[which] = number();
  while (!go[which]) continue;
  for (volatile long i = 0; i < 20000000; i++) continue;
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, computes, (void *)i);
  for (int i = 0; i < 3; i++) go[i] = 1, pthread_join(threads[i], NULL);
  printf("main %ld\n", number());
  for (int i = 0; i < 3; i++) printf("silent %ld\n", numbers[i]);
  return 0;
}
