// SPDX-License-Identifier: Apache-2.0
// handler N [jump]: preads, while a 20 kHz timer's handler preads too and, with `jump`, jumps out, N times.
#include "victim.h"

static int fd, jumping;
static volatile long handled, jumps, begun, done;
static sigjmp_buf back;

static void handler(int signal_number) {
  pread(fd, &(char){0}, 1, signal_number);
  handled++;
  if (jumping && begun && ++jumps) siglongjmp(back, 1);
}

int main(int argc, char **argv) {
  fd = open_zero();
  jumping = argc > 2;
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART}, 0);
  if (!sigsetjmp(back, 1)) setitimer(ITIMER_REAL, &(struct itimerval){{0, 50}, {0, 50}}, 0);
  for (; (jumping ? jumps : handled) < atol(argv[1]); done++) {
    begun++;
    pread(fd, &(char){0}, 1, 2);
  }
  signal(SIGALRM, SIG_IGN);
  dprintf(1, "certain=%ld at_most=%ld\n", handled + done, handled + begun);
}
