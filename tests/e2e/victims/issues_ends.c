// SPDX-License-Identifier: Apache-2.0
// issues_ends FILE PROGRESS COUNT END: two threads issue COUNT rounds each; then the end asked for. With "kill" the other
// thread is still at work.
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "issue.h"

static long rounds;

static void *work(void *number) {
  issue(take_slot((long)number), rounds * (long)number);
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 5) return 2;
  issue_open(arguments[1], arguments[2]);
  rounds = atol(arguments[3]);
  const char *end = arguments[4];
  pthread_t other;
  pthread_create(&other, NULL, work, (void *)(strcmp(end, "kill") ? 1l : 9l));
  issue(take_slot(0), rounds);
  if (!strcmp(end, "kill")) kill(getpid(), SIGKILL);
  pthread_join(other, NULL);
  if (!strcmp(end, "exit")) exit(7);
  if (!strcmp(end, "_exit")) _exit(7);
  if (!strcmp(end, "quick_exit")) quick_exit(7);
  if (!strcmp(end, "abort")) abort();
  if (!strcmp(end, "exec")) execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
  return 2;
}
