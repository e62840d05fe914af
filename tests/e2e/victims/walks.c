// SPDX-License-Identifier: Apache-2.0
// walks FOLDER: through it by ftw, nftw and fts, and once more by nftw, out of whose callback it jumps. Says what each met.
#define _GNU_SOURCE
#include <fts.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdio.h>

static int met;
static jmp_buf out;

static int meet(const char *path, const struct stat *status, int type) {
  (void)path, (void)status, (void)type;
  met++;
  return 0;
}

static int meet_more(const char *path, const struct stat *status, int type, struct FTW *walk) {
  if (walk->level == 2) longjmp(out, 1);
  return meet(path, status, type);
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  char *folders[] = {arguments[1], NULL};
  printf("ftw %d", ftw(arguments[1], meet, 8) ? -1 : met);
  if (!setjmp(out)) nftw(arguments[1], meet_more, 8, FTW_PHYS);
  printf(" nftw %d", met);
  FTS *walk = fts_open(folders, FTS_PHYSICAL, NULL);
  while (fts_read(walk)) met++;
  fts_close(walk);
  printf(" fts %d\n", met);
  return 0;
}
