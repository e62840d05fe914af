// SPDX-License-Identifier: Apache-2.0
// maps_at FILE: mappings that are asked for at no address, at a hint and at a fixed one, by function and by number.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>

#include "family.h"

enum { kPage = 4096, kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS };
static int fd;

static void by_function(char *room) {
  mmap(NULL, kPage, PROT_READ, kAnonymous, -1, 0);
  mmap(room + kPage, kPage, PROT_READ, MAP_SHARED, fd, kPage);  // taken: the kernel gives another
  mmap(room + 3, kPage, PROT_READ, kAnonymous, -1, 0);          // no page begins there
  mmap64(room + 2 * kPage, kPage, PROT_READ, kAnonymous | MAP_FIXED, -1, 0);
  mmap(room + 2 * kPage, kPage, PROT_READ, kAnonymous | MAP_FIXED_NOREPLACE, -1, 0);
  mmap((char *)NULL + kPage / 2, kPage, PROT_READ, kAnonymous | MAP_FIXED, -1, 0);
  mmap((void *)-1, kPage, PROT_READ, kAnonymous, -1, 0);
  mremap(room + 2 * kPage, kPage, kPage, MREMAP_MAYMOVE);
  mremap(room + 2 * kPage, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, room + 4 * kPage);
}

static void by_number(char *room) {
  syscall(SYS_mmap, NULL, kPage, PROT_READ, kAnonymous, -1, 0L);
  syscall(SYS_mmap, room + kPage, kPage, PROT_READ, MAP_SHARED, fd, (long)kPage);
  syscall(SYS_mmap, room + 2 * kPage, kPage, PROT_READ, kAnonymous | MAP_FIXED, -1, 0L);
  syscall(SYS_mremap, room + 2 * kPage, kPage, kPage, MREMAP_MAYMOVE, room);  // a number that the call has no use for
  syscall(SYS_mremap, room + 2 * kPage, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, room + 5 * kPage);
}

int main(int count, char **arguments) {
  if (count != 2 || (fd = open(arguments[1], O_RDONLY)) < 0) return 2;
  char *room = mmap(NULL, 8 * kPage, PROT_READ, kAnonymous, -1, 0);
  begin_calls();
  by_function(room);
  by_number(room);
  end_calls();
  return 0;
}
