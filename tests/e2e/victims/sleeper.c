// SPDX-License-Identifier: Apache-2.0
// sleeper: says "ready", sleeps until a signal comes, says how many handler calls there were and ends with status 5.
// SIGINT and SIGTERM are handled.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t interrupts, terminations;

static void on_signal(int signal) {
  if (signal == SIGINT)
    interrupts++;
  else
    terminations++;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  puts("ready");
  fflush(stdout);
  while (!interrupts && !terminations) usleep(10000);
  usleep(300000);
  printf("%d interrupts, %d terminations\n", (int)interrupts, (int)terminations);
  return 5;
}
