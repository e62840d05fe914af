// SPDX-License-Identifier: Apache-2.0
// same_site PROCESSES: so many forked processes, one after the other, allocate and fill a block of 1 MiB by the same code.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) char *filled(size_t bytes) {
  char *block = malloc(bytes);
  if (!block) exit(4);
  memset(block, 1, bytes);
  return block;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (int left = atoi(argv[1]); left > 0; left--) {
    pid_t child = fork();
    if (child < 0) return 3;
    if (child == 0) {
      char *block = filled(1 << 20);
      usleep(20000);
      free(block);
      return 0;
    }
    waitpid(child, NULL, 0);
  }
  return 0;
}
