// SPDX-License-Identifier: Apache-2.0
// locks_memory FLAGS: mlockall(FLAGS), then memory that nothing is written to. Each line: CASE, MiB of locked and of resident memory that it added.
//   block   malloc of 64 MiB          grown   realloc of a block from 8 to 72 MiB
//   after   malloc of 64 MiB after munlockall
// locks_memory FLAGS again: blocks that grow to 24 MiB and are written to; one is freed before mlockall(FLAGS). Each line: CASE, number.
//   freed    MiB of locked memory that the end of one adds    smaller  the same where one becomes smaller, to 8 MiB
//   new      1 if one that grows after that is locked
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

// A block that grows twice, so that it moves to where it can grow further.
static char *grown(void) {
  char *block = made(kMiB, 1);
  for (size_t mib = 2; mib <= 24; mib += 11) block = realloc(block, mib * kMiB);
  if (!block) exit(4);
  return memset(block, 1, 24 * kMiB);
}

static long added_locked(void) {
  long locked = kib("VmLck:"), added = locked - before.locked;
  before.locked = locked;
  return added / 1024;
}

static int is_locked(const char *at) {
  char line[512];
  unsigned long from = 0, to = 0;
  FILE *file = fopen("/proc/self/smaps", "r");
  while (file && fgets(line, sizeof line, file)) {
    sscanf(line, "%lx-%lx ", &from, &to);
    if ((unsigned long)at >= from && (unsigned long)at < to && !strncmp(line, "VmFlags:", 8)) break;
  }
  if (file) fclose(file);
  return strstr(line, " lo") != NULL;
}

static int again(int flags) {
  char *first = grown(), *second = grown(), *third = grown();
  setvbuf(stdout, NULL, _IONBF, 0);
  free(first);
  if (mlockall(flags)) return 77;
  added_locked();
  free(second);
  printf("freed %ld\n", added_locked());
  third = realloc(third, 8 * kMiB);
  printf("smaller %ld\n", added_locked());
  char *fresh = grown();
  printf("new %d\n", is_locked(fresh));
  free(fresh);
  free(third);
  return 0;
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
  if (argc == 3 && !strcmp(argv[2], "again")) return again(atoi(argv[1]));
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
