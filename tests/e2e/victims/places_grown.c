// SPDX-License-Identifier: Apache-2.0
// Blocks whose rule depends on how they are allocated: places_grown CASE. Prints 1 if all contents were kept.
//   steps    a block grows from 1 to 64 MiB, four times as large each time
//   once     a block grows from 2 to 32 MiB
//   small    a block grows from 512 to 900 KiB, with another one behind it
//   refused  a limit of the address space refuses 300 times that a block grows; without it the block grows once, then where it is
//   kept     a limit of the address space has room for a grown block's new size only if what is left of a freed one goes
//   behind   the same for a block that has room where it was allocated
//   line     getline allocates for a line of 300,000 bytes
//   renames  the program overwrites its argv[0]; then it and a forked child have a block of 1 MiB each
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kKiB = 1 << 10, kMiB = 1 << 20, kLine = 300000 };

static char *filled(size_t bytes) { return memset(malloc(bytes), 7, bytes); }

static int grows(size_t from, size_t to, size_t times) {
  char *block = filled(from), *behind = filled(64 * kKiB);
  for (size_t bytes = from; bytes < to;) {
    bytes = bytes * times > to ? to : bytes * times;
    block = realloc(block, bytes);
  }
  int kept = behind[0] == 7;
  for (size_t i = 0; i < from; i++) kept &= block[i] == 7;
  free(block);
  free(behind);
  return kept;
}

static size_t address_space(void) {
  size_t pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%zu", &pages) != 1) exit(2);
  fclose(file);
  return pages * 4096;
}

static int refused(void) {
  struct rlimit before, limit;
  char *block = filled(8 * kMiB), *behind = filled(8 * kMiB);
  getrlimit(RLIMIT_AS, &before);
  limit = (struct rlimit){address_space() + kMiB, before.rlim_max};
  setrlimit(RLIMIT_AS, &limit);
  int grown = 0;
  for (int i = 0; i < 300; i++) grown += realloc(block, 16 * kMiB) != NULL;
  setrlimit(RLIMIT_AS, &before);
  if (grown) return 0;
  block = realloc(block, 16 * kMiB);
  char *larger = realloc(block, 60 * kMiB);
  int kept = larger == block && behind[0] == 7;
  for (size_t i = 0; i < 8 * kMiB; i++) kept &= larger[i] == 7;
  return kept;
}

static int grows_under_limit(int was_grown) {
  struct rlimit before, limit;
  char *block = filled((was_grown ? 1 : 100) * kMiB), *behind = filled(64 * kKiB), *other = filled(kMiB);
  if (was_grown) block = realloc(block, 100 * kMiB);
  other = realloc(other, 30 * kMiB);
  memset(other, 7, 30 * kMiB);
  free(other);
  getrlimit(RLIMIT_AS, &before);
  limit = (struct rlimit){address_space() + 2 * kMiB, before.rlim_max};
  setrlimit(RLIMIT_AS, &limit);
  char *larger = realloc(block, 120 * kMiB);
  setrlimit(RLIMIT_AS, &before);
  if (larger != block || behind[0] != 7) return 0;
  memset(larger + kMiB, 7, 119 * kMiB);
  for (size_t i = 0; i < 120 * kMiB; i++)
    if (larger[i] != 7) return 0;
  return 1;
}

static int line(void) {
  static char text[kLine];
  char *read = NULL;
  size_t room = 0;
  memset(text, 'x', sizeof text);
  FILE *file = fmemopen(text, sizeof text, "r");
  int kept = getline(&read, &room, file) == kLine && !memcmp(read, text, kLine);
  fclose(file);
  free(read);
  return kept;
}

static int renames(char *name) {
  int status = 1;
  memset(name, 'x', strlen(name));
  free(filled(kMiB));
  pid_t child = fork();
  if (!child) {
    free(filled(kMiB));
    _exit(0);
  }
  waitpid(child, &status, 0);
  return status == 0;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int kept = 0;
  if (!strcmp(what, "steps")) kept = grows(kMiB, 64 * kMiB, 4);
  if (!strcmp(what, "once")) kept = grows(2 * kMiB, 32 * kMiB, 16);
  if (!strcmp(what, "small")) kept = grows(512 * kKiB, 900 * kKiB, 2);
  if (!strcmp(what, "refused")) kept = refused();
  if (!strcmp(what, "kept")) kept = grows_under_limit(1);
  if (!strcmp(what, "behind")) kept = grows_under_limit(0);
  if (!strcmp(what, "line")) kept = line();
  if (!strcmp(what, "renames")) kept = renames(argv[0]);
  printf("%d\n", kept);
  return 0;
}
