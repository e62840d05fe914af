// SPDX-License-Identifier: Apache-2.0
// points ROUNDS FIRST LAST [jump]: at test points FIRST..LAST of the recorder, in a thread for each, a handler strikes
// that records some preads and returns, or jumps out. Needs the library that is built with test points.
#include "victim.h"

extern volatile int mlrun_test_point;
extern void (*mlrun_test_point_fire)(void);
static int fd, jumping, burst;
static volatile long issued;
static sigjmp_buf back;

static void strike(void) {
  for (int i = 0; i < burst; i++, issued++) read_often(fd, 1);
  if (jumping) siglongjmp(back, 1);
}

static void *work(void *place) {
  if (!sigsetjmp(back, 1)) mlrun_test_point = (int)(long)place;
  for (volatile int i = 0; i < 1100; i++, issued++) read_often(fd, 1);
  return mlrun_test_point = 0, place;
}

int main(int argc, char **argv) {
  pthread_t thread;
  fd = open_zero(), jumping = argc > 4, mlrun_test_point_fire = strike;
  for (int round = 0; round < atoi(argv[1]) * 4; round++)
    for (long place = atoi(argv[2]); place <= atoi(argv[3]); place++) {
      burst = (int[]){0, 1, 40, 1500}[round % 4];
      if (!pthread_create(&thread, 0, work, (void *)place)) pthread_join(thread, 0);
    }
  dprintf(1, "issued=%ld\n", issued);
}
