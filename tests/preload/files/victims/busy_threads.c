// SPDX-License-Identifier: Apache-2.0
// busy_threads FOLDER: eight threads open, copy, read, seek and close files of their own, 500 times each.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static const char *folder;

static void *work(void *number) {
  char path[300], room[16];
  snprintf(path, sizeof path, "%s/file_%ld", folder, (long)number);
  for (int i = 0; i < 500; i++) {
    int fd = open(path, O_RDWR | O_CREAT, 0600), copy = dup(fd);
    write(fd, room, (size_t)(long)number + 1), close(fd);
    lseek(copy, 0, SEEK_SET), read(copy, room, sizeof room), close(copy);
  }
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t threads[8];
  if (count != 2) return 2;
  folder = arguments[1];
  for (long i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  return 0;
}
