// SPDX-License-Identifier: Apache-2.0
// hooks_processes: fork, vfork, posix_spawn, exec, _exit and a thread, each once, plus an exec that fails.
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *unused) { return unused; }

int main(void) {
  char *const command[] = {"true", NULL};
  pthread_t thread;
  pid_t child;
  pthread_create(&thread, NULL, nothing, NULL);
  pthread_join(thread, NULL);
  if (fork() == 0) _exit(3);
  wait(NULL);
  if (vfork() == 0) _exit(4);
  wait(NULL);
  posix_spawn(&child, "/bin/true", NULL, NULL, command, environ);
  wait(NULL);
  execv("/nowhere/true", command);
  execv("/bin/true", command);
  return 1;
}
