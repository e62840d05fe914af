// SPDX-License-Identifier: Apache-2.0
// two_tables COUNT: asks for its parent COUNT times by the table of 32-bit programs, as some programs of 64 bits do.
#include <stdlib.h>

int main(int count, char **arguments) {
  if (count != 2) return 2;
  enum { kGetppid = 64 };  // in that table
  for (long i = atol(arguments[1]); i > 0; i--) {
    long result = kGetppid;
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    if (result <= 0) return 1;
  }
  return 0;
}
