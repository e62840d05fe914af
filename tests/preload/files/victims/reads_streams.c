// SPDX-License-Identifier: Apache-2.0
// reads_streams FILE: every stdio symbol that reads or positions, on a file of 44,000 bytes or more.
#define _GNU_SOURCE
#include <stdio.h>

size_t __fread_chk(void *, size_t, size_t, size_t, FILE *),
    __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *), *__fgets_unlocked_chk(char *, size_t, int, FILE *);
ssize_t __getdelim(char **, size_t *, int, FILE *);

int main(int count, char **arguments) {
  static char room[60000], *line;
  size_t size = 0;
  FILE *in = count == 2 ? fopen(arguments[1], "r+") : NULL;
  for (int i = 0; i < 1000; i++) fgets(room, 100, in), fgets_unlocked(room, 100, in);
  while (fread(room, 7, 100, in) == 100) fread_unlocked(room, 5000, 3, in), ungetc('a', in);
  fread(room, 1, 10, in), fread(room, 1, sizeof room, in), rewind(in);
  for (int i = 0; i < 500; i++)
    getline(&line, &size, in), getdelim(&line, &size, ' ', in), __getdelim(&line, &size, 's', in);
  __fread_chk(room, sizeof room, 3, 3001, in), __fread_unlocked_chk(room, sizeof room, 1, 20, in);
  __fgets_chk(room, sizeof room, 9, in), __fgets_unlocked_chk(room, sizeof room, 9, in);
  fseek(in, 100, SEEK_SET), fread(room, 1, 1, in), fseeko(in, 20000, SEEK_SET), fread(room, 1, 1, in),
      fseeko64(in, -5, SEEK_END);
  fputs("written after reading", in), rewind(in), fgets(room, 10, in);
  return fclose(in);
}
