// SPDX-License-Identifier: Apache-2.0
// A preload library for mlrun: perf events of another process are refused, as where the limit of open files is reached. Those of the caller work.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...) {
  long arguments[6];
  va_list more;
  va_start(more, number);
  for (int i = 0; i < 6; i++) arguments[i] = va_arg(more, long);
  va_end(more);
  if (number == SYS_perf_event_open && (int)arguments[1] > 0) {
    errno = EMFILE;
    return -1;
  }
  long result;
  register long fourth __asm__("r10") = arguments[3];
  register long fifth __asm__("r8") = arguments[4];
  register long sixth __asm__("r9") = arguments[5];
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(fourth), "r"(fifth),
                     "r"(sixth)
                   : "rcx", "r11", "memory");
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}
