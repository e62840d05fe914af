// SPDX-License-Identifier: Apache-2.0
// unrecorded HOW BYTES [MILLISECONDS]: reads BYTES of /dev/zero by the system call instruction, past libc. HOW:
//   leaves   ends by the instruction, too, as a Go program does
//   killed   ends by SIGKILL
//   child    a child leaves, its parent waits for it
//   twice    a child of a child reads as much by libc, and outlives both its parent and this process's reading
//   before   reads and starts `true`, for which it waits
//   aio      sets up Linux's aio after MILLISECONDS, and keeps it for another 1500 ms
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 20];

static long past_libc(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

static void wait_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  past_libc(SYS_nanosleep, (long)&time, 0, 0);
}

static void read_past_libc(long bytes) {
  long fd = past_libc(SYS_open, (long)"/dev/zero", O_RDONLY, 0);
  for (long got = 0; got < bytes; got += (long)sizeof buffer) past_libc(SYS_read, fd, (long)buffer, sizeof buffer);
  past_libc(SYS_close, fd, 0, 0);
}

static void read_by_libc(long bytes) {
  int fd = open("/dev/zero", O_RDONLY);
  for (long got = 0; got < bytes; got += (long)sizeof buffer) read(fd, buffer, sizeof buffer);
  close(fd);
}

static void leave(void) { past_libc(SYS_exit_group, 0, 0, 0); }

static void read_twice(long bytes) {
  int read_end[2];
  char byte;
  if (pipe(read_end)) exit(2);
  if (fork() == 0) {
    if (fork() == 0) {
      read_by_libc(bytes);
      close(read_end[0]);
      read(0, &byte, 0);
      wait_ms(600);
      exit(0);
    }
    _exit(0);
  }
  close(read_end[1]);
  wait(NULL);
  read(read_end[0], &byte, 1);
  read_past_libc(bytes);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  const char *how = arguments[1];
  long bytes = atol(arguments[2]);
  if (!strcmp(how, "aio")) {
    aio_context_t context = 0;
    wait_ms(count > 3 ? atol(arguments[3]) : 0);
    if (past_libc(SYS_io_setup, 8, (long)&context, 0) != 0) return 77;
    wait_ms(1500);
    return 0;
  }
  if (!strcmp(how, "twice")) {
    read_twice(bytes);
    return 0;
  }
  if (!strcmp(how, "child")) {
    if (fork() == 0) {
      read_past_libc(bytes);
      leave();
    }
    wait(NULL);
    return 0;
  }
  read_past_libc(bytes);
  if (!strcmp(how, "killed")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "leaves")) leave();
  if (!strcmp(how, "before") && fork() == 0) {
    execlp("true", "true", (char *)NULL);
    _exit(127);
  }
  wait(NULL);
  return 0;
}
