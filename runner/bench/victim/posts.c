// SPDX-License-Identifier: Apache-2.0
// Loops of posts that no thread waits for, as in most calls of real programs.
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loops.h"

static void post(long iterations) {
  static sem_t semaphore;
  if (sem_init(&semaphore, 0, 0) != 0) give_up("sem_init");
  for (long i = 0; i < iterations; i++) sem_post(&semaphore);
}

static void signal_condition(long iterations) {
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  for (long i = 0; i < iterations; i++) pthread_cond_signal(&condition);
}

static void wake(long iterations) {
  static int word;
  for (long i = 0; i < iterations; i++) {
    if (syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) != 0) give_up("futex");
  }
}

// A post, and a wait that returns at once because of it.
static void post_and_wait(long iterations) {
  static sem_t semaphore;
  if (sem_init(&semaphore, 0, 0) != 0) give_up("sem_init");
  for (long i = 0; i < iterations; i++) {
    sem_post(&semaphore);
    sem_wait(&semaphore);
  }
}

const struct loop post_loops[] = {
    {"sem_post", post}, {"cond_signal", signal_condition}, {"futex_wake", wake}, {"sem_post_wait", post_and_wait}, {0}};
