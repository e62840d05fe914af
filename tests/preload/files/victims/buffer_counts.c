// SPDX-License-Identifier: Apache-2.0
// buffer_counts FILE: stdio with buffers of one page, so that its system calls are known.
#include <stdio.h>

int main(int count, char **arguments) {
  static char block[5000];
  FILE *file = count == 2 ? fopen(arguments[1], "w+") : NULL;
  setvbuf(file, NULL, _IOFBF, 4096);
  for (int i = 0; i < 1000; i++) fprintf(file, "%07d\n", i);  // 8000 bytes: one flush, in the 513th call
  fflush(file);                                               // the rest
  fputs("tail", file);
  rewind(file);                 // 4 bytes
  fgets(block, 5000, file);     // 4096 bytes
  fread(block, 8, 400, file);   // within them
  fread(block, 1, 5000, file);  // the rest of the file and its end
  fread(block, 1, 10, file);    // the end is known: no system call
  fputs("left", file);
  return fclose(file);  // 4 bytes
}
