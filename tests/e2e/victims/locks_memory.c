// SPDX-License-Identifier: Apache-2.0
// locks_memory FLAGS: mlockall(FLAGS), then memory that nothing is written to. Each line: CASE, MiB of locked and of resident memory that it added.
//   block   malloc of 64 MiB          grown   realloc of a block from 8 to 72 MiB
//   after   malloc of 64 MiB after munlockall
// locks_memory FLAGS many: the number of the process's mappings after mlockall(FLAGS) while each second one of 40,000 small blocks is freed.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kMiB = 1 << 20 };

static struct { long locked, resident; } before;

static long kib(const char *name) {
  char line[256];
  long value = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, name, strlen(name))) value = atol(line + strlen(name));
  if (status) fclose(status);
  return value;
}

static void show(const char *what) {
  long locked = kib("VmLck:"), resident = kib("VmRSS:");
  if (what) printf("%s %ld %ld\n", what, (locked - before.locked) >> 10, (resident - before.resident) >> 10);
  before.locked = locked;
  before.resident = resident;
}

static char *made(size_t bytes, int filled) {
  char *block = malloc(bytes);
  if (!block) exit(4);
  if (filled) memset(block, 1, bytes);
  return block;
}

static int among_many(int flags) {
  enum { kMany = 40000, kSize = 8192 };
  static void *blocks[kMany];
  for (int i = 0; i < kMany; i++)
    if (!(blocks[i] = malloc(kSize))) return 4;
  for (int i = 0; i < kMany; i += 2) free(blocks[i]);
  if (mlockall(flags)) return 77;
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  for (int c; maps && (c = getc(maps)) != EOF;) count += c == '\n';
  printf("%d\n", count);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3) return among_many(atoi(argv[1]));
  if (argc != 2) return 2;
  char *old = made(8 * kMiB, 1), *behind = made(8 * kMiB, 1);
  setvbuf(stdout, NULL, _IONBF, 0);
  show(NULL);
  if (mlockall(atoi(argv[1]))) return 77;
  show(NULL);
  char *block = made(64 * kMiB, 0);
  show("block");
  old = realloc(old, 72 * kMiB);
  if (!old) return 4;
  show("grown");
  munlockall();
  show(NULL);
  char *after = made(64 * kMiB, 0);
  show("after");
  for (int i = 0; i < 8 * kMiB; i++)
    if (old[i] != 1) return 5;
  free(after);
  free(block);
  free(behind);
  free(old);
  return 0;
}
