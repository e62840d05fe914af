// SPDX-License-Identifier: Apache-2.0
// The main thread names itself by prctl and another thread by pthread_setname_np.
#include "victim.h"

static void *run(void *barrier) {
  dprintf(1, "other=%d\n", gettid());
  pthread_barrier_wait(barrier);
  pthread_barrier_wait(barrier);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, 0, 2);
  pthread_create(&thread, 0, run, &barrier);
  pthread_barrier_wait(&barrier);
  prctl(PR_SET_NAME, "from prctl", 0, 0, 0);
  pthread_setname_np(thread, "a longer name i");
  if (pthread_setname_np(thread, "a name that is too long") != ERANGE) return 1;
  pthread_barrier_wait(&barrier);
  pthread_join(thread, 0);
  dprintf(1, "main=%d\n", getpid());
}
