// SPDX-License-Identifier: Apache-2.0
// family_raw FILE OUT: calls by number, through syscall(); a descriptor that is closed so and used again.
#define _GNU_SOURCE
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "family.h"

static void uses_again(const char *in, const char *out) {
  char bytes[8];
  int fd = open(in, O_RDONLY);
  read(fd, bytes, 4);
  syscall(SYS_close, fd);
  fd = (int)syscall(SYS_open, out, O_RDONLY);
  read(fd, bytes, 5);
  syscall(SYS_close_range, fd, fd, 0);
  int again = open(in, O_RDONLY);
  read(again, bytes, 6);
  close(again);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  struct open_how how = {.flags = O_CREAT | O_RDWR, .mode = 0644};
  char bytes[512];
  struct stat status;
  int ends[2];
  begin_calls();
  int out = (int)syscall(SYS_openat2, AT_FDCWD, arguments[2], &how, sizeof how);
  int in = (int)syscall(SYS_openat, AT_FDCWD, arguments[1], O_RDONLY);
  syscall(SYS_openat2, AT_FDCWD, "/none/at/all", &how, sizeof how);
  syscall(SYS_read, in, bytes, 100), syscall(SYS_pread64, in, bytes, 50, 1000L), syscall(SYS_write, out, bytes, 100);
  syscall(SYS_pwrite64, out, bytes, 20, 500L), syscall(SYS_lseek, in, 0L, SEEK_SET), syscall(SYS_fstat, in, &status);
  syscall(SYS_stat, arguments[1], &status), syscall(SYS_read, 999, bytes, 1), syscall(SYS_fsync, out);
  int copy = (int)syscall(SYS_dup, in);
  syscall(SYS_read, copy, bytes, 7), syscall(SYS_pipe2, ends, 0), syscall(SYS_write, ends[1], "123", 3);
  syscall(SYS_sendfile, out, in, NULL, 11L), syscall(SYS_close, copy), syscall(SYS_ftruncate, out, 300L);
  syscall(SYS_gettid), syscall(SYS_getpid);
  uses_again(arguments[1], arguments[2]);
  end_calls();
  return 0;
}
