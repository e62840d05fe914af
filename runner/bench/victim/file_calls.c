// SPDX-License-Identifier: Apache-2.0
// Loops of file calls with as little kernel work as possible, and of readings of the clocks that can stamp records.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "loops.h"

enum { kBatch = 64 };

static int open_data(void) {
  int fd = open(data_path, O_RDWR | O_CLOEXEC);
  if (fd < 0) give_up(data_path);
  return fd;
}

static int data_fd(void) {
  static int fd = -1;
  if (fd < 0) fd = open_data();
  return fd;
}

static void tsc(long iterations) {
  uint64_t sum = 0;
  for (long i = 0; i < iterations; i++) sum += __rdtsc();
  if (!sum) give_up("the time stamp counter");
}

static void monotonic(long iterations) {
  struct timespec now;
  for (long i = 0; i < iterations; i++) clock_gettime(CLOCK_MONOTONIC, &now);
}

static void pread_empty(long iterations) {
  int fd = data_fd();
  char nothing;
  for (long i = 0; i < iterations; i++) {
    if (pread(fd, &nothing, 0, 0) != 0) give_up("pread of 0 bytes");
  }
}

static void read_empty(long iterations) {
  int fd = data_fd();
  char nothing;
  for (long i = 0; i < iterations; i++) {
    if (read(fd, &nothing, 0) != 0) give_up("read of 0 bytes");
  }
}

static void write_empty(long iterations) {
  int fd = data_fd();
  for (long i = 0; i < iterations; i++) {
    if (write(fd, "", 0) != 0) give_up("write of 0 bytes");
  }
}

static void close_batches(long iterations) {
  int fds[kBatch];
  for (long rest = iterations; rest > 0; rest -= kBatch) {
    long batch = rest < kBatch ? rest : kBatch;
    stop_watch();
    for (long i = 0; i < batch; i++) {
      fds[i] = dup(data_fd());
      if (fds[i] < 0) give_up("dup");
    }
    start_watch();
    for (long i = 0; i < batch; i++) close(fds[i]);
  }
}

static void open_close(long iterations) {
  for (long i = 0; i < iterations; i++) close(open_data());
}

static void fstat_data(long iterations) {
  int fd = data_fd();
  struct stat status;
  for (long i = 0; i < iterations; i++) {
    if (fstat(fd, &status) != 0) give_up("fstat");
  }
}

static void stat_data(long iterations) {
  struct stat status;
  for (long i = 0; i < iterations; i++) {
    if (stat(data_path, &status) != 0) give_up("stat");
  }
}

// Reads one byte per call, nearly always from stdio's buffer.
static void fread_byte(long iterations) {
  static FILE *file;
  if (!file) file = fopen(data_path, "re");
  if (!file) give_up(data_path);
  char byte;
  for (long i = 0; i < iterations; i++) {
    if (fread(&byte, 1, 1, file) != 1) rewind(file);
  }
}

const struct loop file_loops[] = {{"tsc", tsc},
                                  {"monotonic", monotonic},
                                  {"pread", pread_empty},
                                  {"read", read_empty},
                                  {"write", write_empty},
                                  {"close", close_batches},
                                  {"open_close", open_close},
                                  {"fstat", fstat_data},
                                  {"stat", stat_data},
                                  {"fread_byte", fread_byte},
                                  {0}};
