// SPDX-License-Identifier: Apache-2.0
// issues_threads FILE PROGRESS COUNT THREADS AT_ONCE: threads that issue COUNT rounds each and end by return, by
// pthread_exit or detached, AT_ONCE at a time.
#include <pthread.h>
#include <semaphore.h>

#include "issue.h"

static long rounds;
static sem_t places;

static void *work(void *number) {
  issue(take_slot((int)(long)number), rounds);
  if ((long)number % 2) pthread_detach(pthread_self());
  sem_post(&places);
  if ((long)number % 4 == 0) pthread_exit(NULL);
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 6) return 2;
  issue_open(arguments[1], arguments[2]);
  rounds = atol(arguments[3]);
  long threads = atol(arguments[4]), at_once = atol(arguments[5]);
  pthread_t *ids = calloc((size_t)threads, sizeof *ids);
  sem_init(&places, 0, (unsigned)at_once);
  for (long i = 0; i < threads; i++) {
    sem_wait(&places);
    if (i >= at_once && (i - at_once) % 2 == 0) pthread_join(ids[i - at_once], NULL);
    while (pthread_create(&ids[i], NULL, work, (void *)i)) usleep(1000);
  }
  for (long i = threads > at_once ? threads - at_once : 0; i < threads; i++)
    if (i % 2 == 0) pthread_join(ids[i], NULL);
  for (long i = 0; i < at_once; i++) sem_wait(&places);
  return 0;
}
