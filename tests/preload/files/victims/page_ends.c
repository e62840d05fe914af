// SPDX-License-Identifier: Apache-2.0
// page_ends FOLDER: makes files with names of 1 to 48 bytes there, and opens each twice by a string whose 0 is the last byte
// that can be read.
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096, kLongest = 48 };

int main(int argc, char **argv) {
  char *page = mmap(0, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (argc != 2 || page == MAP_FAILED || mprotect(page + kPage, kPage, PROT_NONE) != 0 || chdir(argv[1]) != 0) return 2;
  for (int bytes = 1; bytes <= kLongest; bytes++) {
    char *name = page + kPage - 1 - bytes;
    memset(name, 'n', (size_t)bytes);
    page[kPage - 1] = 0;
    close(open(name, O_CREAT | O_WRONLY, 0600));
    for (int i = 0; i < 2; i++) {
      int fd = open(name, O_RDONLY);
      if (fd < 0) return 3;
      close(fd);
    }
  }
  return 0;
}
