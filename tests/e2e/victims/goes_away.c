// SPDX-License-Identifier: Apache-2.0
// goes_away FIFO: a call is given memory that another thread, or a handler, unmaps before it returns: the name of a pipe that an open
// waits for, the vector of a read or write that waits. Prints what each returns.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char *page, *name, buffer[16];
static int ends[2];
static volatile int waiting;  // tid of the thread that is about to wait
static long (*call)(void);

static void say(const char *what, long result) {
  printf("%s %ld %d\n", what, result < 0 ? -1 : result > 2 ? 3 : result, result < 0 ? errno : 0);
}

static void *place(const void *from, size_t bytes) {
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memcpy(page, from, bytes);
}

static long opens(void) { return open((char *)page, O_RDONLY); }
static long reads(void) { return readv(ends[0], (struct iovec *)(void *)page, 1); }
static long writes(void) { return writev(ends[1], (struct iovec *)(void *)page, 1); }

static void *waits(void *what) {
  waiting = (int)syscall(SYS_gettid);
  say(what, call());
  return NULL;
}

// Whether the thread sleeps in a system call.
static int sleeps(int tid) {
  char file[64], state = 0;
  snprintf(file, sizeof file, "/proc/self/task/%d/stat", tid);
  FILE *stream = fopen(file, "r");
  if (stream && fscanf(stream, "%*d (%*[^)]) %c", &state) != 1) state = 0;
  if (stream) fclose(stream);
  return state == 'S';
}

// `wake` makes the call continue after its memory was unmapped.
static void lose(const char *what, long (*waiting_call)(void), void (*wake)(void)) {
  pthread_t thread;
  waiting = 0;
  call = waiting_call;
  pthread_create(&thread, NULL, waits, (void *)(size_t)what);
  while (!waiting || !sleeps(waiting)) usleep(1000);
  usleep(20000);
  munmap(page, 4096);
  wake();
  pthread_join(thread, NULL);
}

static void opens_other_end(void) { close(open(name, O_WRONLY)); }
static void writes_a_byte(void) {
  if (write(ends[1], "x", 1) != 1) abort();
}
static void reads_all(void) {
  static char all[1 << 17];
  while (read(ends[0], all, sizeof all) > 0) continue;
}

static void unmap(int number) { (void)number, munmap(page, 4096); }
static volatile int done;
static void *signals(void *thread) {
  for (; !done; usleep(50)) pthread_kill(*(pthread_t *)thread, SIGUSR1);
  return NULL;
}

// A handler takes the name away at any moment of the call; what is counted is that the process lives. The program does not touch it.
static void lose_to_handler(void) {
  pthread_t self = pthread_self(), other;
  signal(SIGUSR1, unmap);
  int file = memfd_create("name", 0);
  if (write(file, "/", 2) != 2) abort();
  pthread_create(&other, NULL, signals, &self);
  for (int i = 0; i < 20000; i++) {
    struct stat status;
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    stat(page, &status);
    munmap(page, 4096);
  }
  done = 1;
  pthread_join(other, NULL);
  printf("alive\n");
}

int main(int count, char **arguments) {
  static char large[1 << 17];
  if (count != 2 || pipe(ends)) return 2;
  name = arguments[1];
  struct iovec small = {buffer, 1}, big = {large, sizeof large};
  place(name, strlen(name) + 1);
  lose("open", opens, opens_other_end);
  place(&small, sizeof small);
  lose("readv", reads, writes_a_byte);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  place(&big, sizeof big);
  lose("writev", writes, reads_all);
  lose_to_handler();
  return 0;
}
