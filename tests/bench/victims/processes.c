// SPDX-License-Identifier: Apache-2.0
// New processes: a fork whose child ends at once, and posix_spawn of the smallest program there is.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loops.h"

extern char **environ;

static void wait_for(pid_t child) {
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) give_up("a child process");
}

static void fork_exit(long iterations) {
  for (long i = 0; i < iterations; i++) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0) give_up("fork");
    wait_for(child);
  }
}

static void spawn_true(long iterations) {
  char *arguments[] = {"true", NULL};
  for (long i = 0; i < iterations; i++) {
    pid_t child;
    if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) != 0) give_up("posix_spawn of /bin/true");
    wait_for(child);
  }
}

const struct loop process_loops[] = {{"fork_exit", 1, fork_exit}, {"spawn_true", 1, spawn_true}, {0}};
