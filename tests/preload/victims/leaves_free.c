// SPDX-License-Identifier: Apache-2.0
// leaves_free TIMES: TIMES times, a block whose free is interrupted by a signal and left by siglongjmp, and one whose
// free returns. The allocator of toy_allocator.c sends the signal.
#include "victim.h"

static sigjmp_buf out;
static void leave(int signal) { siglongjmp(out, signal); }

int main(int argc, char **argv) {
  volatile long times = atol(argv[argc - 1]), left = 0;
  void *volatile block;
  signal(SIGUSR1, leave);
  for (volatile long i = 0; i < times; i++) {
    block = malloc(5000);
    if (sigsetjmp(out, 1))
      left++;
    else
      free(block);
    block = malloc(3000);
    free(block);
  }
  dprintf(1, "left=%ld", left);
  _exit(0);
}
