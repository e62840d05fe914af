// SPDX-License-Identifier: Apache-2.0
// rings HOW MILLISECONDS: makes what the kernel serves without calls, waits, and ends. HOW: libc (io_uring, mapped by libc's mmap), past
// (io_uring without libc, as liburing does), aio (Linux's own). Status 77: this kernel gives none.
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long past_libc(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return number;
}

static int make_ring(const char *how) {
  struct io_uring_params parameters = {0};
  aio_context_t context = 0;
  if (!strcmp(how, "aio")) return syscall(SYS_io_setup, 8, &context) == 0;
  int past = !strcmp(how, "past");
  long ring = past ? past_libc(SYS_io_uring_setup, 8, (long)&parameters, 0, 0, 0, 0)
                   : syscall(SYS_io_uring_setup, 8, &parameters);
  if (ring < 0) return 0;
  size_t bytes = parameters.sq_off.array + parameters.sq_entries * sizeof(int);
  if (past)
    return past_libc(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING) > 0;
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)ring, IORING_OFF_SQ_RING) != MAP_FAILED;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  if (strcmp(arguments[1], "none") && !make_ring(arguments[1])) return 77;
  struct timespec tenth = {0, atol(arguments[2]) % 10000 * 100000};
  char byte;
  // It goes on recording, or it would not be looked at.
  for (int i = 0; i < 10; i++) {
    int fd = open("/dev/zero", O_RDONLY);
    read(fd, &byte, 1);
    close(fd);
    nanosleep(&tenth, NULL);
  }
  return 7;
}
