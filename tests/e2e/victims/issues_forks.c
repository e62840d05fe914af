// SPDX-License-Identifier: Apache-2.0
// issues_forks FILE PROGRESS COUNT CHILDREN KILLED: children issue COUNT rounds while their parent does, and end by _exit or,
// each KILLEDth one (0: none), by SIGKILL; at most 50 live at a time.
#include <signal.h>
#include <sys/wait.h>

#include "issue.h"

int main(int count, char **arguments) {
  if (count != 6) return 2;
  issue_open(arguments[1], arguments[2]);
  long rounds = atol(arguments[3]), children = atol(arguments[4]), killed = atol(arguments[5]);
  struct slot *mine = take_slot(0);
  for (long child = 1; child <= children; child++) {
    if (fork() == 0) {
      issue(take_slot((int)child), rounds);
      if (killed && child % killed == 0) kill(getpid(), SIGKILL);
      _exit(0);
    }
    issue(mine, rounds);
    if (child >= 50) wait(NULL);
  }
  while (wait(NULL) > 0) continue;
  return 0;
}
