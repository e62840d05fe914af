// SPDX-License-Identifier: Apache-2.0
// small_stack FILE: a signal handler on the smallest stack there may be opens, reads and renames files, with a fault
// behind it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path;

static void handle(int number) {
  char byte;
  struct stat status;
  int fd = open(path, O_RDONLY), pipe_ends[2] = {-1, number};
  read(fd, &byte, 1), stat("relative", &status), rename("relative", "other"), close(fd);
  pipe(pipe_ends), write(pipe_ends[1], &byte, 1), read(pipe_ends[0], &byte, 1), chdir("/");
}

int main(int count, char **arguments) {
  size_t bytes = ((size_t)sysconf(_SC_MINSIGSTKSZ) + 2048 + 4095) / 4096 * 4096;
  char *memory = mmap(NULL, bytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + 8192, bytes, PROT_READ | PROT_WRITE);
  stack_t stack = {.ss_sp = memory + 8192, .ss_size = bytes};
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  path = count == 2 ? arguments[1] : NULL;
  if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL)) return 2;
  return raise(SIGUSR1);
}
