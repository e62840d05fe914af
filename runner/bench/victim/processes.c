// SPDX-License-Identifier: Apache-2.0
// Loops that create processes and threads and wait for their end.
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loops.h"

extern char **environ;

static void wait_for(pid_t child) {
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) give_up("a child process");
}

static void fork_and_exit(long iterations) {
  for (long i = 0; i < iterations; i++) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0) give_up("fork");
    wait_for(child);
  }
}

static void spawn(long iterations) {
  char *arguments[] = {(char *)program_path, NULL};
  for (long i = 0; i < iterations; i++) {
    pid_t child;
    if (posix_spawn(&child, program_path, NULL, NULL, arguments, environ) != 0) give_up(program_path);
    wait_for(child);
  }
}

// Allocates once, so that the new thread records something.
static void *allocate_once(void *nothing) {
  free(malloc(16));
  return nothing;
}

static void thread(long iterations) {
  for (long i = 0; i < iterations; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, allocate_once, NULL) != 0) give_up("pthread_create");
    pthread_join(thread, NULL);
  }
}

const struct loop process_loops[] = {{"fork", fork_and_exit}, {"exec", spawn}, {"thread", thread}, {0}};
