// SPDX-License-Identifier: Apache-2.0
// flushes_many FOLDER HOW: ten bytes wait in each of 70 streams, and then all are flushed at once: by fflush, fcloseall or
// the return from main.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

enum { kStreams = 70 };

int main(int count, char **arguments) {
  if (count != 3) return 2;
  for (int i = 0; i < kStreams; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", arguments[1], i);
    FILE *file = fopen(path, "w");
    if (!file || fwrite("ten bytes\n", 1, 10, file) != 10) return 3;
  }
  if (!strcmp(arguments[2], "fflush")) return fflush(NULL);
  if (!strcmp(arguments[2], "fcloseall")) return fcloseall();
  return 0;
}
