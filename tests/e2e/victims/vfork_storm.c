// SPDX-License-Identifier: Apache-2.0
// vfork_storm COUNT FILE: two threads make COUNT children each by vfork. A child opens and closes FILE on descriptors
// of its own before it execs: that must not reach the parent's. All children must end with 0.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static long children;

static void *storm(void *file) {
  volatile long failed = 0;
  for (volatile long i = 0; i < children; i++) {
    int status = -1;
    pid_t child = vfork();
    if (child == 0) {
      close(open(file, O_RDONLY));
      execlp("true", "true", (char *)NULL);
      _exit(127);
    }
    failed += waitpid(child, &status, 0) != child || status != 0;
  }
  return (void *)failed;
}

int main(int count, char **arguments) {
  pthread_t other;
  void *failed;
  children = count == 3 ? atol(arguments[1]) : 0;
  pthread_create(&other, NULL, storm, arguments[2]);
  long also_failed = (long)storm(arguments[2]);
  pthread_join(other, &failed);
  return failed || also_failed;
}
