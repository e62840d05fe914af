// SPDX-License-Identifier: Apache-2.0
// maps_memory FILE: maps memory in every way, and in FILE writes what /proc/self/maps has more of than at the beginning of private
// anonymous mappings that may be read or written, at the moment when it is the most.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMiB = 1 << 20, kOpen = PROT_READ | PROT_WRITE, kPlain = MAP_PRIVATE | MAP_ANONYMOUS };

// Without stdio, which maps or allocates.
static long open_bytes(void) {
  static char text[1 << 18];
  size_t bytes = 0;
  int fd = open("/proc/self/maps", O_RDONLY);
  for (ssize_t n; (n = read(fd, text + bytes, sizeof text - 1 - bytes)) > 0;) bytes += (size_t)n;
  close(fd);
  text[bytes] = 0;
  long sum = 0;
  for (char *line = text, *next; *line; line = next) {
    next = strchr(line, '\n') + 1;
    unsigned long from, to;
    char allowed[5];
    int name = 0;
    sscanf(line, "%lx-%lx %4s %*s %*s %*s%n", &from, &to, allowed, &name);
    char *rest = line + name;
    while (*rest == ' ') rest++;
    if (allowed[3] == 'p' && (allowed[0] == 'r' || allowed[1] == 'w') && *rest == '\n') sum += (long)(to - from);
  }
  return sum;
}

int main(int count, char **arguments) {
  long before = open_bytes();
  if (count != 2) return 2;
  char *kept = mmap(NULL, 200 * kMiB, PROT_NONE, kPlain | MAP_NORESERVE, -1, 0);
  mprotect(kept + 10 * kMiB, 30 * kMiB, kOpen);
  mprotect(kept + 20 * kMiB, 5 * kMiB, PROT_NONE);
  syscall(SYS_mprotect, kept + 50 * kMiB, 7L * kMiB, PROT_READ);
  char *raw = (char *)syscall(SYS_mmap, NULL, 9L * kMiB, kOpen, kPlain, -1, 0L);
  mremap(raw, 9 * kMiB, 6 * kMiB, 0);
  char *plain = mmap(NULL, 40 * kMiB, kOpen, kPlain, -1, 0);
  munmap(plain + 10 * kMiB, 5 * kMiB);
  mmap(plain + 20 * kMiB, 4 * kMiB, PROT_NONE, kPlain | MAP_FIXED, -1, 0);
  mremap(plain + 30 * kMiB, 4 * kMiB, 20 * kMiB, MREMAP_MAYMOVE);  // a part, which is moved and grows
  mmap(NULL, 64 * kMiB, kOpen, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  long most = open_bytes() - before;
  mmap(NULL, 500 * kMiB, kOpen, kPlain | MAP_NORESERVE, -1, 0);  // apart
  munmap(plain, 10 * kMiB);
  FILE *file = fopen(arguments[1], "w");
  fprintf(file, "%ld\n", most);
  return fclose(file);
}
