// SPDX-License-Identifier: Apache-2.0
// places_budget CASE: what is resident while blocks of 2 MiB and more change their size, in a heap that keeps freed pages. Prints how many bytes more
// than before the first block, and whether the contents were kept. Sizes are in MiB.
//   widens   a block of 24 is freed, then one grows from 2 to 30, where it is
//   moves    the same with another block behind it, to 26
//   grows    a block that has moved grows once more, after one of 20 was freed
//   shrinks  a block becomes smaller, from 30 to 17, then one of 12 is allocated
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long resident(void) {
  static char text[100];
  FILE *file = fopen("/proc/self/statm", "r");
  setvbuf(file, text, _IOFBF, sizeof text);
  long all = 0, pages = 0;
  if (fscanf(file, "%ld %ld", &all, &pages) != 2) exit(2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static char *filled(size_t mib) { return memset(malloc(mib << 20), 7, mib << 20); }

static char *resized(char *block, size_t from, size_t to) {
  block = realloc(block, to << 20);
  if (to > from) memset(block + (from << 20), 7, (to - from) << 20);
  return block;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  size_t size = 0;
  char *block = NULL, *other = NULL;
  long before = resident();
  if (!strcmp(what, "widens") || !strcmp(what, "moves")) {
    free(filled(24));
    block = filled(2);
    if (!strcmp(what, "moves")) other = filled(2);
    block = resized(block, 2, size = other ? 26 : 30);
  } else if (!strcmp(what, "grows")) {
    block = filled(2);
    other = filled(2);
    block = resized(block, 2, 8);
    free(filled(20));
    block = resized(block, 8, size = 28);
  } else if (!strcmp(what, "shrinks")) {
    block = resized(filled(30), 30, size = 17);
    other = filled(12);
  }
  long more = resident() - before;
  int kept = !other || (other[0] == 7 && other[(1 << 20) - 1] == 7);
  for (size_t i = 0; i < size << 20; i++) kept &= block[i] == 7;
  printf("%ld %d\n", more, kept);
}
