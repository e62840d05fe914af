// SPDX-License-Identifier: Apache-2.0
// issues_closefrom FILE PROGRESS COUNT: issues COUNT rounds, closes every descriptor from 3 up, opens the files again
// on the same numbers, and issues COUNT rounds more.
#define _GNU_SOURCE
#include "issue.h"

int main(int count, char **arguments) {
  if (count != 4) return 2;
  issue_open(arguments[1], arguments[2]);
  int before = issue_fd;
  issue(take_slot(0), atol(arguments[3]));
  closefrom(3);
  issue_open(arguments[1], arguments[2]);
  issue(take_slot(0), atol(arguments[3]));
  return issue_fd != before;
}
