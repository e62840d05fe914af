// SPDX-License-Identifier: Apache-2.0
// failed_flushes FILE: streams whose buffer cannot be written: the file was moved so that libc cannot seek back over what
// it read ahead, or the device is full. Prints errno after each freopen that reopened the stream, and behind a flush of all.
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static FILE *half_read(const char *path) {
  FILE *file = fopen(path, "r+");
  if (file && getc(file) != EOF) lseek(fileno(file), 5, SEEK_SET);
  return file;
}

int main(int count, char **arguments) {
  char line[16], block[5000] = {0};
  FILE *file = count == 2 ? fopen(arguments[1], "w") : NULL;
  if (!file) return 2;
  for (int i = 0; i < 1000; i++) fputs("abcdefg\n", file);
  fclose(file);

  file = half_read(arguments[1]);
  size_t written = fwrite(block, 1, sizeof block, file);
  printf("%d %s", written == 0, fgets(line, sizeof line, file));
  fclose(file);

  file = half_read(arguments[1]);
  fputs("never written", file), errno = 0;
  file = freopen(arguments[1], "r", file), printf("%d\n", errno), fclose(file);

  file = fopen("/dev/full", "w"), fputs("no room", file), errno = 0;
  file = freopen(arguments[1], "r", file), printf("%d\n", errno), fclose(file);

  FILE *beside = fopen("/dev/null", "w");
  fputs("written", beside), file = half_read(arguments[1]), fputs("kept", file), errno = 0;
  int result = fflush(NULL);
  printf("%d %d\n", result, errno);
  return 0;  // which tries once more, and drops them
}
