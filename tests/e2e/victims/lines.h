// SPDX-License-Identifier: Apache-2.0
// For programs that call functions of the hook table by their own symbols, each a known number of times. The calls of a
// line are in the trace between two failing unlinks, of which the first has its symbol and number:
//
//   LINE(pread64, 2, pread64(in, bytes, 4, 8) == 4);     unlink("/mlrun-line/pread64=2") ... unlink("/mlrun-line/-")
//
// A call that does not hold ends the program.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE(symbol, calls, ...) LINE_NAMED(#symbol, calls, __VA_ARGS__)
#define LINE_NAMED(name, calls, ...)                 \
  ({                                                 \
    unlink("/mlrun-line/" name "=" #calls);          \
    for (int n = 0; n < (calls); n++)                \
      if (errno = 0, !(__VA_ARGS__)) fails(name, n); \
    unlink("/mlrun-line/-");                         \
  })

// A function that is hooked but not recorded: called once, and its success is printed.
#define UNRECORDED(symbol, ...)                       \
  do {                                                \
    if (errno = 0, !(__VA_ARGS__)) fails(#symbol, 0); \
    unlink("/mlrun-line/" #symbol "=0");              \
    unlink("/mlrun-line/-");                          \
  } while (0)

static inline void fails(const char *name, int time) {
  int error = errno;
  char text[160];
  int bytes = snprintf(text, sizeof text, "%s, call %d: not as expected, %s\n", name, time + 1, strerror(error));
  syscall(SYS_write, 2, text, bytes);
  _exit(3);
}

static inline int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// A wait, made again until it really waited: what was awaited may have come while this thread had no processor. Waits
// below 20 us leave no row.
#define WAITED(...)                             \
  ({                                            \
    bool holds;                                 \
    int64_t began;                              \
    do began = now_ns(), holds = (__VA_ARGS__); \
    while (holds && now_ns() - began < 500000); \
    holds;                                      \
  })

// The end of a child that was made by a line; true: it ended well.
static inline bool ended_well(pid_t child) {
  int status;
  while (syscall(SYS_wait4, child, &status, 0, NULL) != child)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
