// SPDX-License-Identifier: Apache-2.0
// Ten threads take ten robust mutexes each, some before and some after their first recorded call, and end without
// unlocking them: the next owner of each must get EOWNERDEAD.
#include "victim.h"

static pthread_mutex_t mutexes[100];
static int fd;

static void *run(void *number) {
  for (long i = (long)number * 10; i < (long)number * 10 + 10; i++) {
    pthread_mutex_lock(&mutexes[i]);
    if (i % 10 == 5) read_often(fd, 1);
  }
  return 0;
}

int main(void) {
  pthread_mutexattr_t robust;
  pthread_t threads[10];
  int reported = 0;
  fd = open_zero();
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  for (int i = 0; i < 100; i++) pthread_mutex_init(&mutexes[i], &robust);
  for (long i = 0; i < 10; i++) pthread_create(&threads[i], 0, run, (void *)i);
  for (int i = 0; i < 10; i++) pthread_join(threads[i], 0);
  for (int i = 0; i < 100; i++) reported += pthread_mutex_lock(&mutexes[i]) == EOWNERDEAD;
  dprintf(1, "told=%d\n", reported);
}
