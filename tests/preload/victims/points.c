// SPDX-License-Identifier: Apache-2.0
// points ROUNDS POINT [jump]: in ROUNDS threads that pread and open a handler strikes at that test point, does the same, and
// returns or jumps out.
#include "victim.h"

extern __thread volatile int mlrun_test_point;
extern void (*mlrun_test_point_fire)(void);
static volatile int fd, jumping, burst, strikes, issued;
static sigjmp_buf back;

static void strike(void) {
  strikes++;
  close(open_zero());
  for (int i = 0; i < burst; i++, issued++) read_often(fd, 1);
  if (jumping) siglongjmp(back, 1);
}

static void *work(void *point) {
  if (!sigsetjmp(back, 1)) mlrun_test_point = atoi(point);
  for (volatile int i = 0; i < 1100; i++, issued++) {
    if (i % 64 == 0) close(open_zero());
    read_often(fd, 1);
  }
  return point;
}

int main(int argc, char **argv) {
  pthread_t thread;
  fd = open_zero(), jumping = argc > 3, mlrun_test_point_fire = strike;
  for (int round = 0; round < atoi(argv[1]); round++) {
    burst = (int[]){0, 1, 40, 1500, 3000}[round % 5];
    if (!pthread_create(&thread, 0, work, argv[2])) pthread_join(thread, 0);
  }
  dprintf(1, "issued=%d strikes=%d\n", issued, strikes);
}
