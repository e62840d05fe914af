// SPDX-License-Identifier: Apache-2.0
// numbered FILE COUNT END: pread of one byte at offsets 0, 1, 2, ... COUNT-1, then the end asked for. A call's offset
// is its serial number.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 4) return 2;
  int fd = open(arguments[1], O_RDONLY);
  long calls = atol(arguments[2]);
  const char *end = arguments[3];
  char byte;
  for (long i = 0; i < calls; i++) pread(fd, &byte, 1, i);
  if (!strcmp(end, "exit")) exit(7);
  if (!strcmp(end, "_exit")) _exit(7);
  if (!strcmp(end, "quick_exit")) quick_exit(7);
  if (!strcmp(end, "abort")) abort();
  if (!strcmp(end, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(end, "segv")) raise(SIGSEGV);
  if (!strcmp(end, "exec")) execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
  return 2;
}
