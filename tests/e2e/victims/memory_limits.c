// SPDX-License-Identifier: Apache-2.0
// memory_limits FILE COUNT: preads numbered bytes, locks its memory under a limit of 64 MiB as an unprivileged user,
// then limits its address space to 200 MB, and prints whether each succeeded as it must in a small program; preads
// again and forks to do the same.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int fd;
static long calls;

static void read_numbered(void) {
  char byte;
  for (long i = 0; i < calls; i++) pread(fd, &byte, 1, i);
}

static void limit(int resource, rlim_t bytes) {
  struct rlimit both = {bytes, bytes};
  printf("limit %d: %d\n", resource, setrlimit(resource, &both));
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  fd = open(arguments[1], O_RDONLY), calls = atol(arguments[2]);
  read_numbered();
  limit(RLIMIT_MEMLOCK, 64 << 20);
  if (geteuid() == 0 && setuid(65534)) return 3;
  errno = 0;
  int locked = mlockall(MCL_CURRENT | MCL_FUTURE);
  printf("mlockall: %d %s\n", locked, strerror(errno));
  printf("munlockall: %d\n", munlockall());
  read_numbered();
  limit(RLIMIT_AS, 200000000);
  long taken = 0;
  while (malloc(1 << 20)) taken++;
  printf("memory to be had: %s\n", taken > 150 ? "most of the limit" : "too little");
  read_numbered();
  fflush(stdout);
  if (fork() == 0) {
    read_numbered();
    _exit(0);
  }
  return wait(NULL) < 0;
}
