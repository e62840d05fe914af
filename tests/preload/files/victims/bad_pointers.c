// SPDX-License-Identifier: Apache-2.0
// bad_pointers PATH: invalid pointers, paths at the end of readable memory, paths that do not reach the kernel. Prints
// the errno of each.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void *volatile null;
static volatile int negative = -5;

static void say(long result) { dprintf(1, "%d ", result == -1 ? errno : 0); }

int main(int count, char **arguments) {
  struct stat status;
  char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *nowhere = page + 4096;
  munmap(nowhere, 4096);
  char *last = count == 2 ? strcpy(nowhere - strlen(arguments[1]) - 1, arguments[1]) : nowhere;
  memset(page, 'x', 3900);
  say(open(nowhere, O_RDONLY)), say(open(last, O_RDONLY)), say(open(nowhere, 0x80000000 | O_PATH | O_TMPFILE));
  say(open(last, O_TMPFILE)), say(open(null, O_RDONLY)), say(stat(nowhere, &status)), say(stat(page, &status));
  say(statx(AT_FDCWD, nowhere, -1, 0, null)), say(statx(AT_FDCWD, last, -1, 0, null)), say(rename(last, nowhere));
  say(renameat2(AT_FDCWD, last, AT_FDCWD, nowhere, 64)), say(readv(-1, (struct iovec *)nowhere, 3));
  say(readv(0, (struct iovec *)nowhere, 3)), say(writev(1, (struct iovec *)nowhere, negative)),
      say(read(-1, nowhere, 1));
  say(preadv(-1, (struct iovec[]){{page, 10}, {page, 20}}, 2, 0)), say(pipe((int *)nowhere));
  return 0;
}
