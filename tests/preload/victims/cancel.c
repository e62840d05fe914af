// SPDX-License-Identifier: Apache-2.0
// 100 threads, each cancelled in a blocking read(), the last one asynchronously; each then preads in a cleanup handler.
#include "victim.h"

static int fd, ends[2], cleaned, asynchronous;
static volatile int ready;

static void clean(void *byte) { cleaned += pread(fd, byte, 1, 0) == 1; }

static void *run(void *byte) {
  pthread_cleanup_push(clean, byte);
  if (asynchronous) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
  ready = 1, read(ends[0], byte, 1);
  pthread_cleanup_pop(0);
  return byte;
}

int main(void) {
  pthread_t thread;
  void *result;
  int cancelled = 0;
  fd = open_zero();
  for (int i = pipe(ends); i < 100; i++, cancelled += result == PTHREAD_CANCELED) {
    asynchronous = i == 99, ready = 0;
    pthread_create(&thread, 0, run, &(char){0});
    for (int calm = 0; calm < 10; calm += ready) usleep(100);
    if (!pthread_cancel(thread)) pthread_join(thread, &result);
  }
  dprintf(1, "cancelled=%d cleaned=%d\n", cancelled, cleaned);
}
