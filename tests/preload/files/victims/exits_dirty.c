// SPDX-License-Identifier: Apache-2.0
// exits_dirty FILE HOW: 4096 bytes wait in a stream on FILE, 7 in stdout, when the process ends: by return, exit, _exit,
// with the descriptor of FILE closed, or while another thread is alive.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *waits(void *given) {
  for (;;) pause();
  return given;
}

int main(int count, char **arguments) {
  static char block[4096], buffer[65536];  // libc takes no size without a buffer
  if (count != 3) return 2;
  const char *how = arguments[2];
  FILE *file = fopen(arguments[1], "w");
  setvbuf(file, buffer, _IOFBF, sizeof buffer);
  fwrite(block, 1, sizeof block, file);
  printf("waiting");
  pthread_t thread;
  if (!strcmp(how, "closed")) close(fileno(file));
  if (!strcmp(how, "thread") && pthread_create(&thread, NULL, waits, NULL)) return 3;
  if (!strcmp(how, "_exit")) _exit(0);
  if (!strcmp(how, "exit")) exit(0);
  return 0;
}
