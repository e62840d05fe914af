// SPDX-License-Identifier: Apache-2.0
// writes_streams FILE: every stdio symbol that writes.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>

int __fprintf_chk(FILE *, int, const char *, ...), __vfprintf_chk(FILE *, int, const char *, va_list);
int __printf_chk(int, const char *, ...), __vprintf_chk(int, const char *, va_list),
    __dprintf_chk(int, int, const char *, ...);
int __vdprintf_chk(int, int, const char *, va_list);

static int list(int how, const char *format, ...) {
  va_list all;
  va_start(all, format);
  return how == 0   ? vprintf(format, all)
         : how == 1 ? vfprintf(stdout, format, all)
         : how == 2 ? __vprintf_chk(1, format, all)
         : how == 3 ? __vfprintf_chk(stdout, 1, format, all)
         : how == 4 ? vdprintf(1, format, all)
                    : __vdprintf_chk(1, 1, format, all);
}

int main(int count, char **arguments) {
  static char room[15000];
  FILE *out = count == 2 && freopen(arguments[1], "w", stdout) ? fopen64(arguments[1], "a") : NULL;
  for (int i = 0; i < 900; i++)
    printf("%d ", i), puts("puts"), fputs("fputs\n", stdout), fputs_unlocked("unlocked\n", stdout);
  for (int i = 0; i < 300; i++)
    __fprintf_chk(stdout, 1, "chk %d\n", i), __printf_chk(1, "%d\n", i), list(i % 4, "list %d\n", i);
  fwrite(room, 3, 5000, stdout), fwrite_unlocked(room, 7, 100, stdout), fwrite("", 0, 5, stdout),
      fflush_unlocked(stdout);
  dprintf(1, "at once"), __dprintf_chk(1, 1, "%s", "too"), list(4, "%s", "and"), list(5, "%d", 5);
  fputs("left for fflush(NULL)", stdout), fputs("also", out), fflush(NULL), fputs("left for fclose", out), fclose(out);
  return fclose(stdout);
}
