// SPDX-License-Identifier: Apache-2.0
// hooks_streams FILE: stdio's refills and flushes with known sizes. The stream's buffer is the page that fopen gives
// it.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static char block[10000], *line;
  size_t room = 0;
  if (count != 2) return 2;
  FILE *out = fopen(arguments[1], "w");
  fputs("a line\n", out);
  fflush(out);
  for (int i = 0; i < 5000; i++) fwrite("xy", 2, 1, out);
  fprintf(out, "%d\n", 123);
  fclose(out);
  FILE *in = fopen(arguments[1], "r");
  fgets(block, 100, in);
  for (int i = 0; i < 400; i++) fread(block, 10, 1, in);
  fread(block, 10, 10, in);
  fseek(in, 10000, SEEK_SET);
  rewind(in);
  fread(block, 1, sizeof block, in);
  in = freopen(arguments[1], "r", in);
  getline(&line, &room, in);
  fclose(in);
  fclose(tmpfile());
  char name[] = "made.XXXXXX";
  fclose(fdopen(mkstemp(name), "w"));
  return unlink(name);
}
