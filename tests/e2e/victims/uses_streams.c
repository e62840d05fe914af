// SPDX-License-Identifier: Apache-2.0
// uses_streams FILE: streams of two threads, folders, blocks, calls that fail, and programs that get the environment. Calls nothing of
// libc that own_names.c has.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *file;

static void *writes(void *unused) {
  for (int i = 0; i < 5000; i++) fputs("0123456789\n", file);
  return unused;
}

int main(int count, char **arguments) {
  pthread_t thread;
  if (count != 2 || !(file = fopen(arguments[1], "w"))) return 2;
  pthread_create(&thread, NULL, writes, NULL);
  writes(NULL);
  pthread_join(thread, NULL);
  fflush(NULL);
  DIR *folder = opendir("/proc/self/task");
  for (int i = 0; i < 3; i++) readdir(folder);
  closedir(folder);
  open("/nothing/here", O_RDONLY);
  free(malloc(100000));
  char *program[] = {"sh", "-c", "test -n \"$PATH\"", NULL};
  int status = 1;
  if (!fork()) {
    execv("/bin/sh", program);
    _exit(9);
  }
  wait(&status);
  return status || system("test -n \"$PATH\"") ? 3 : 7;
}
