// SPDX-License-Identifier: Apache-2.0
// frees_inherited HOW: 100,000 small blocks, and in a forked child as many frees of them and blocks of its own. HOW: first (frees, then
// blocks), mixed (one by one), last (blocks, then frees), resized (its blocks are the parent's, resized), grandchild (a child of the child).
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBlocks = 100000, kTheirs = 100, kOwn = 50 };

static void *blocks[kBlocks], *own[kBlocks];

static void work(const char *how) {
  for (int i = 0; i < kBlocks && !strcmp(how, "first"); i++) free(blocks[i]);
  for (int i = 0; i < kBlocks; i++) {
    if (!strcmp(how, "mixed")) free(blocks[i]);
    own[i] = strcmp(how, "resized") ? malloc(kOwn) : realloc(blocks[i], kOwn);
  }
  usleep(250000);  // the counts are read
  for (int i = 0; i < kBlocks; i++) free(own[i]);
  for (int i = 0; i < kBlocks && !strcmp(how, "last"); i++) free(blocks[i]);
  usleep(250000);
}

static int in_child(const char *how) {
  int status = 1;
  if (!fork()) {
    if (!strcmp(how, "grandchild")) {
      work("mixed");
      for (int i = 0; i < kBlocks; i++) blocks[i] = malloc(kTheirs);
      _exit(in_child("mixed"));
    }
    work(how);
    _exit(0);
  }
  return wait(&status) < 0 || status;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  for (int i = 0; i < kBlocks; i++) blocks[i] = malloc(kTheirs);
  return in_child(arguments[1]);
}
