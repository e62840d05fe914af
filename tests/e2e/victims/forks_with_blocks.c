// SPDX-License-Identifier: Apache-2.0
// A parent with many blocks forks often; of the children only the last one writes into a block: forks_with_blocks BLOCKS FORKS. Prints its pid.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBlock = 8192, kBlocksMax = 100000 };

static char *blocks[kBlocksMax];

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int count = atoi(argv[1]), forks = atoi(argv[2]);
  for (int i = 0; i < count; i++) {
    blocks[i] = malloc(kBlock);
    blocks[i][kBlock / 2] = 1;
  }
  pid_t child = 0;
  for (int i = 0; i < forks; i++) {
    child = fork();
    if (child == 0) {
      if (i == forks - 1) blocks[count / 2][kBlock / 2] = 2;
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  printf("%d\n", (int)child);
  return 0;
}
