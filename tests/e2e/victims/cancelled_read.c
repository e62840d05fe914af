// SPDX-License-Identifier: Apache-2.0
// A thread is cancelled while it waits in read(). Its clean-up handler runs and releases the lock, and join returns
// PTHREAD_CANCELED.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void unlock(void *mutex) { pthread_mutex_unlock(mutex); }

static void *wait_in_read(void *buffer) {
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(unlock, &lock);
  read(ends[0], buffer, 1);
  pthread_cleanup_pop(1);
  return NULL;
}

int main(void) {
  pthread_t thread;
  void *result = NULL;
  char byte;
  if (pipe(ends)) return 2;
  pthread_create(&thread, NULL, wait_in_read, &byte);
  usleep(100000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  printf("cancelled %d, lock free %d\n", result == PTHREAD_CANCELED, pthread_mutex_trylock(&lock) == 0);
}
