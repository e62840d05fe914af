// SPDX-License-Identifier: Apache-2.0
// threads N CALLS: N threads over a life, 200 at once, each preads CALLS times.
#include "victim.h"

static int fd;

static void *run(void *calls) {
  read_often(fd, (long)calls);
  usleep(1000);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t threads[200];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  fd = open_zero();
  for (int round = 0; round < atoi(argv[1]) / 200; round++) {
    for (int i = 0; i < 200; i++)
      if (pthread_create(&threads[i], &attributes, run, (void *)atol(argv[argc - 1]))) abort();
    for (int i = 0; i < 200; i++) pthread_join(threads[i], 0);
  }
  _exit(0);
}
