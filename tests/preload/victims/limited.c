// SPDX-License-Identifier: Apache-2.0
// limited HOW N: N preads, then a restriction, then N preads of a thread, of a forked child and of the process itself.
#include "victim.h"

static int fd;

static void *run(void *calls) {
  read_often(fd, (long)calls);
  return 0;
}

int main(int argc, char **argv) {
  long calls = atol(argv[argc - 1]);
  pthread_t thread;
  fd = open_zero();
  read_often(fd, calls);
  if (!strcmp(argv[1], "fsize")) setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
  while (!strcmp(argv[1], "emfile") && dup(0) >= 0) continue;
  if (!strcmp(argv[1], "chroot") && (chdir("/proc/self/fdinfo") || chroot("."))) return 1;
  if (!strcmp(argv[1], "nobody") && (setgid(65534) || setuid(65534))) return 1;
  pthread_create(&thread, 0, run, (void *)calls);
  pthread_join(thread, 0);
  pid_t child = fork();
  read_often(fd, calls);
  if (child) wait(0);
  _exit(0);
}
