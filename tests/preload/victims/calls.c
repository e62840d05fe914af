// SPDX-License-Identifier: Apache-2.0
// calls N END: N preads, a malloc(5000) and its free at every tenth of them, then the end that END names.
#include "victim.h"

int main(int argc, char **argv) {
  const char *end = argv[argc - 1];
  int fd = open_zero();
  for (long i = 0; i < atol(argv[1]); i++) {
    pread(fd, &(char){0}, 1, i);
    if (i % 10 == 0) free(malloc(5000));
  }
  if (!strcmp(end, "exit")) exit(0);
  if (!strcmp(end, "_exit")) _exit(0);
  if (!strcmp(end, "quick_exit")) quick_exit(0);
  if (!strcmp(end, "abort")) abort();
  if (!strcmp(end, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(end, "exec")) execl(argv[0], argv[0], argv[1], "_exit", (char *)0);
  return 1;
}
