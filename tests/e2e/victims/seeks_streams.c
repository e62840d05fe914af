// SPDX-License-Identifier: Apache-2.0
// seeks_streams FILE OTHER THIRD: calls on streams that make several system calls each.
#include <stdio.h>
int main(int count, char **names) {
  char bytes[10000] = "";
  FILE *stream = fopen(names[1], "r+"), *other = fopen(names[2], "w+"), *third = fopen(names[3], "w");
  for (long i = 0; i < 3000; i++) {
    fseek(stream, i * 7919 % 900000, SEEK_SET), fread(bytes, 1, 100, stream);
    fseek(stream, 0, SEEK_CUR), fwrite(bytes, 1, 10, stream);
    fwrite(bytes, 1, 30, other), fseek(other, i * 5, SEEK_SET), fread(bytes, 1, 5, other);
    fseek(other, 0, SEEK_END), fwrite(bytes, 1, 3, other), fputs("text", third), fflush(NULL);
    if (i % 100 == 0) fputs("more", third), third = freopen(names[3], "a", third);
  }
  return count > 9;
}
