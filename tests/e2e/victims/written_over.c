// SPDX-License-Identifier: Apache-2.0
// written_over FOLDER: calls whose result goes over the name that they were given, or that end with their page; in the folder, which
// has the file "f" and the links "full" and "short". Prints what each returns.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wrestrict"

static void say(long result) { printf("%ld\n", result); }

// A buffer whose last byte is the last of its page, with the name at its start.
static char *last_bytes(const char *name, size_t bytes) {
  char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + 4096, 4096);
  return strcpy(page + 4096 - bytes, name);
}

int main(int count, char **arguments) {
  union {
    char name[PATH_MAX];
    struct stat status;
    struct statx more;
    struct statfs system;
  } u;
  if (count != 2 || chdir(arguments[1])) return 2;
  char *end = last_bytes("full", 5);
  say(readlink(end, end, 5));
  end = last_bytes("full", 5);
  say(readlinkat(AT_FDCWD, end, end, 5));
  strcpy(u.name, "short");
  say(readlink(u.name, u.name, 100));
  strcpy(u.name, "short");
  say(readlink(u.name, u.name + 3, 100));
  strcpy(u.name, "f");
  say(stat(u.name, &u.status));
  strcpy(u.name, "f");
  say(lstat(u.name, &u.status));
  strcpy(u.name, "./f");
  say(fstatat(AT_FDCWD, u.name, &u.status, 0));
  strcpy(u.name, "f");
  say(statx(AT_FDCWD, u.name, 0, STATX_BASIC_STATS, &u.more));
  strcpy(u.name, "f");
  say(statfs(u.name, &u.system));
  strcpy(u.name, "short");
  say(realpath(u.name, u.name) != NULL);
  memset(u.name, '/', 300);
  strcpy(u.name + 300, "missing");
  u.name[0] = '.';
  say(stat(u.name, (struct stat *)(void *)(u.name + 160)));
  return 0;
}
