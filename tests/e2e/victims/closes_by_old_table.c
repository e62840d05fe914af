// SPDX-License-Identifier: Apache-2.0
// closes_by_old_table COUNT: closes an unopened descriptor COUNT times, by the 32-bit system call table.
#include <errno.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  if (count != 2) return 2;
  enum { kClose = 6 };  // in that table
  for (long i = atol(arguments[1]); i > 0; i--) {
    long result = kClose;
    __asm__ volatile("int $0x80" : "+a"(result) : "b"(-1) : "memory", "r8", "r9", "r10", "r11");
    if ((int)result != -EBADF) return 1;
  }
  return 0;
}
