// SPDX-License-Identifier: Apache-2.0
// odd_streams FILE: streams without a descriptor, wide streams, a full device, a stream closed by pclose, texts with a
// 0 in them.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <wchar.h>

int main(int count, char **arguments) {
  char room[200], *memory;
  size_t size;
  FILE *file = open_memstream(&memory, &size);
  fprintf(file, "in memory"), fclose(file);
  file = fmemopen(room, sizeof room, "w+"), fputs("x", file), rewind(file), fgets(room + 100, 50, file), fclose(file);
  file = fopen("/dev/full", "w"), fprintf(file, "does not fit"), fflush(file), fprintf(file, "nor this"), fclose(file);
  file = popen("echo from a child", "r"), fgets(room, sizeof room, file), pclose(file);
  file = count == 2 ? fopen(arguments[1], "w") : NULL, fwide(file, 1), fputws(L"wide\n", file), fclose(file);
  file = fopen(arguments[1], "w"), fwrite("a\0b\nc\0\0d\n", 1, 9, file), fclose(file);
  file = fopen(arguments[1], "r"), fgets(room, sizeof room, file), fgets(room, sizeof room, file), fgets(room, 9, file);
  ungetc('!', file), ungetc('?', file), fgets(room, 9, file), puts(room), fclose(file);
  file = fopen("/dev/zero", "r"), fread(room, 3, 7, file), fclose(file);
  return !fopen("/nowhere/at/all", "r") - !tmpfile() - 1;
}
