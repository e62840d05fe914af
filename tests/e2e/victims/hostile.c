// SPDX-License-Identifier: Apache-2.0
// hostile FILE COUNT SEED: preads COUNT numbered bytes and then writes random words all over each mapping whose file is a
// buffer of mlrun, again and again for a while. Ends with status 6.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void scribble(unsigned long *start, unsigned long *end) {
  size_t words = (size_t)(end - start);
  for (int i = 0; i < 3000; i++) {
    // Mostly low addresses, where the control page, owner words and open segments are.
    size_t at = (size_t)random() % (i % 3 ? words / 64 + 1 : words);
    start[at] = i % 2 ? (unsigned long)random() << 32 ^ (unsigned long)random() : start[at] ^ 1ul << random() % 64;
  }
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  char line[4200], byte;
  int fd = open(arguments[1], O_RDONLY);
  srandom((unsigned)atol(arguments[3]));
  for (long i = 0; i < atol(arguments[2]); i++) pread(fd, &byte, 1, i);
  FILE *maps = fopen("/proc/self/maps", "r");
  unsigned long start = 0, end = 0;
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "/mlrun-") || strstr(line, "/arena.bin"))
      if (sscanf(line, "%lx-%lx rw-s", &start, &end) == 2) break;
  for (int i = 0; i < 20 && end; i++) {
    scribble((unsigned long *)start, (unsigned long *)end);
    usleep(10000);
  }
  _exit(end ? 6 : 3);
}
