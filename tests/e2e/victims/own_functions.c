// SPDX-License-Identifier: Apache-2.0
// own_functions FILE COUNT: has functions of libc's names of its own, which end it wherever they are called from: nothing here calls
// them. Then numbered preads of FILE, and calls with names: of files, of programs, and of an environment without PATH.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN(name)                                     \
  void own_##name(void) __asm__(#name);               \
  void own_##name(void) {                             \
    static const char said[] = #name " was called\n"; \
    write(2, said, sizeof said - 1);                  \
    _exit(99);                                        \
  }

OWN(memcpy);
OWN(memmove);
OWN(memset);
OWN(memcmp);
OWN(memchr);
OWN(strlen);
OWN(strnlen);
OWN(strcmp);
OWN(strncmp);
OWN(strchr);
OWN(strrchr);
OWN(strspn);
OWN(strcspn);
OWN(strstr);
OWN(getenv);

static int spawned(const char *program, char **environment) {
  char *arguments[] = {"true", NULL};
  pid_t child = 0;
  int status = posix_spawnp(&child, program, NULL, NULL, arguments, environment);
  if (!status) waitpid(child, &status, 0);
  return status;
}

int main(int count, char **arguments) {
  struct stat status;
  char byte, link[64], *empty[] = {NULL};
  if (count != 3) return 2;
  int fd = open(arguments[1], O_RDONLY);
  for (long i = 0, calls = atol(arguments[2]); i < calls; i++) pread(fd, &byte, 1, i);
  prctl(PR_SET_NAME, "own");
  stat("relative", &status);
  readlink("/proc/self/exe", link, sizeof link);
  FILE *file = fopen(arguments[1], "r");
  fclose(file);
  fputs("said\n", stdout);
  void *block = realloc(calloc(3, 5000), 40000);
  free(block);
  return spawned("true", environ) | spawned("/bin/true", empty) ? 3 : 7;
}
