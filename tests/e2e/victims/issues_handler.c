// SPDX-License-Identifier: Apache-2.0
// issues_handler FILE PROGRESS COUNT: COUNT rounds are issued while a 20 kHz timer's handler calls lseek.
#include <signal.h>
#include <sys/time.h>

#include "issue.h"

static struct slot *mine;

static void on_alarm(int signal) {
  lseek(issue_fd, signal, SEEK_SET);
  mine->lseeks++;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  issue_open(arguments[1], arguments[2]);
  mine = take_slot(0);
  signal(SIGALRM, on_alarm);
  struct itimerval every = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  issue(mine, atol(arguments[3]));
  setitimer(ITIMER_REAL, &never, NULL);
  return 0;
}
