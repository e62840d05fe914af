// SPDX-License-Identifier: Apache-2.0
// Forks while another thread holds the dynamic linker's lock; the child makes a call that its parent never made.
#include "victim.h"

static pthread_barrier_t inside;

static int hold(struct dl_phdr_info *object, size_t size, void *seconds) {
  pthread_barrier_wait(&inside);
  sleep((unsigned)(long)seconds);
  return object->dlpi_adds || size;
}

static void *run(void *seconds) { return (void *)(long)dl_iterate_phdr(hold, seconds); }

int main(void) {
  pthread_t thread;
  int status, fd = open_zero();
  pthread_barrier_init(&inside, 0, 2);
  pthread_create(&thread, 0, run, (void *)3);
  pthread_barrier_wait(&inside);
  pid_t child = fork();
  if (!child) alarm(2);
  if (!child) _exit(pread(fd, &(char){0}, 1, 0) != 1);
  waitpid(child, &status, 0);
  pthread_join(thread, 0);
  return status != 0;
}
