// SPDX-License-Identifier: Apache-2.0
// pread, and open with read and close. What is read is in the page cache, or a hole of a file on tmpfs, which costs no
// memory.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loops.h"

enum { kPage = 4096 };

static int open_data(void) {
  int fd = open(data_path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) give_up(data_path);
  return fd;
}

// A descriptor of the thread's own, opened by its first call and kept.
static int data_fd(void) {
  static _Thread_local int fd = -1;
  if (fd < 0) fd = open_data();
  return fd;
}

static void pread_empty(long iterations) {
  int fd = data_fd();
  char nothing;
  for (long i = 0; i < iterations; i++) {
    if (pread(fd, &nothing, 0, 0) != 0) give_up("pread of 0 bytes");
  }
}

static void pread_random(long iterations) {
  static _Thread_local uint64_t random = kSeed;
  int fd = data_fd();
  char page[kPage];
  struct stat status;
  if (fstat(fd, &status) != 0) give_up(data_path);
  uint64_t pages = (uint64_t)status.st_size / kPage;
  for (long i = 0; i < iterations; i++) {
    off_t offset = (off_t)(next_random(&random) % pages * kPage);
    if (pread(fd, page, kPage, offset) != kPage) give_up("pread of a page");
  }
}

static void open_read_close(long iterations) {
  char page[kPage];
  for (long i = 0; i < iterations; i++) {
    int fd = open_data();
    if (read(fd, page, kPage) != kPage) give_up("read of a page");
    close(fd);
  }
}

// What a program pays that asks for the identity of what it opened; tracing may cost this much more there.
static void open_fstat_read_close(long iterations) {
  char page[kPage];
  struct stat status;
  for (long i = 0; i < iterations; i++) {
    int fd = open_data();
    if (fstat(fd, &status) != 0) give_up(data_path);
    if (read(fd, page, kPage) != kPage) give_up("read of a page");
    close(fd);
  }
}

const struct loop file_loops[] = {{"pread_empty", 1, pread_empty},
                                  {"pread_random", 1, pread_random},
                                  {"open_read_close", 3, open_read_close},
                                  {"open_fstat_read_close", 3, open_fstat_read_close},
                                  {0}};
