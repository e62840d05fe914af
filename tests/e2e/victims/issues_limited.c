// SPDX-License-Identifier: Apache-2.0
// issues_limited FILE PROGRESS COUNT: four threads issue COUNT rounds each while the program limits its address space a little
// more every millisecond, down to 600 MB.
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

#include "issue.h"

static long rounds;

static void *work(void *number) {
  issue(take_slot((int)(long)number), rounds);
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  issue_open(arguments[1], arguments[2]);
  rounds = atol(arguments[3]);
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  long refused = 0;
  for (rlim_t bytes = 4100000000; bytes >= 600000000; bytes -= 35000000) {
    struct rlimit limit = {bytes, RLIM_INFINITY};
    refused += setrlimit(RLIMIT_AS, &limit) != 0;
    usleep(1000);
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("%ld refused\n", refused);
  return 0;
}
