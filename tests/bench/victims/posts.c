// SPDX-License-Identifier: Apache-2.0
// Posts: without a waiter, and with threads that wait for them as often as they can.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "loops.h"

static void sem_post_alone(long iterations) {
  static _Thread_local sem_t semaphore;
  if (sem_init(&semaphore, 0, 0) != 0) give_up("sem_init");
  for (long i = 0; i < iterations; i++) sem_post(&semaphore);
}

static void cond_signal_alone(long iterations) {
  static _Thread_local pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  for (long i = 0; i < iterations; i++) pthread_cond_signal(&condition);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static long made, taken;
static bool over;

static void *takes(void *given) {
  pthread_mutex_lock(&mutex);
  while (!over || taken < made) {
    while (taken < made) taken++;
    if (!over) pthread_cond_wait(&condition, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  return given;
}

// A queue with two takers: each item is put under the lock and notified, as std::condition_variable::notify_one after a push.
static void notify_waiters(long iterations) {
  pthread_t threads[2];
  over = false;
  for (int i = 0; i < 2; i++) {
    if (pthread_create(&threads[i], NULL, takes, NULL) != 0) give_up("pthread_create");
  }
  for (long i = 0; i < iterations; i++) {
    pthread_mutex_lock(&mutex);
    made++;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&condition);
  }
  pthread_mutex_lock(&mutex);
  over = true;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

const struct loop post_loops[] = {
    {"sem_post", 1, sem_post_alone}, {"cond_signal", 1, cond_signal_alone}, {"notify_waiters", 1, notify_waiters}, {0}};
