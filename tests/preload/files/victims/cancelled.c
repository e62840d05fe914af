// SPDX-License-Identifier: Apache-2.0
// cancelled FIFO: threads cancelled inside read (deferred and at once), open and fread. Prints how many ended
// cancelled, how many cleanup handlers ran, and a byte read through the stream, whose lock must be free again.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int ends[2], cleaned, turn;
static char room[8], *fifo;
static FILE *stream;

static void clean(void *by) { cleaned += by == room; }
static void *run(void *unused) {
  pthread_cleanup_push(clean, room);
  if (turn == 3) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  turn == 1 ? open(fifo, O_RDONLY) : turn == 2 ? (int)fread(room, 1, 8, stream) : (int)read(ends[0], room, 8);
  pthread_cleanup_pop(0);
  return unused;
}

int main(int count, char **arguments) {
  int cancelled = 0;
  if (count != 2 || pipe(ends) || mkfifo(fifo = arguments[1], 0600) || !(stream = fdopen(ends[0], "r"))) return 2;
  for (void *result; turn < 4; turn++, cancelled += result == PTHREAD_CANCELED) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0), usleep(50000), pthread_cancel(thread), pthread_join(thread, &result);
  }
  return write(ends[1], "12345678", 8) != 8 || printf("%d %d %c\n", cancelled, cleaned, fgetc(stream)) != 6;
}
