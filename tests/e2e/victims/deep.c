// SPDX-License-Identifier: Apache-2.0
// deep FILE: recursion to the very end of the stack, with a pread and an allocation at each level, ended by a handler on a
// stack of its own; then a thread on the smallest stack there may be does the same kinds of calls.
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static int fd;
static volatile long depth;
static sigjmp_buf out;
static char own_stack[65536];

static void overflowed(int signal) { siglongjmp(out, signal); }

static long recurse(long level) {
  volatile char frame[256];
  frame[0] = (char)level;
  pread(fd, (char *)frame + 1, 1, level % 1000);
  void *volatile block = level % 64 ? NULL : malloc(100);
  depth = level;
  long below = recurse(level + 1);
  free(block);
  return below + frame[0];
}

static void *on_a_small_stack(void *unused) {
  char byte;
  int file = open("/dev/null", O_RDWR);
  free(malloc(5000));
  ssize_t written = write(file, "x", 1), got = read(file, &byte, 1);
  printf("small stack: %zd %zd\n", written, got);
  close(file);
  return unused;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  fd = open(arguments[1], O_RDONLY);
  stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof own_stack};
  struct sigaction action = {.sa_handler = overflowed, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, NULL);
  sigaction(SIGSEGV, &action, NULL);
  if (!sigsetjmp(out, 1)) recurse(1);
  printf("overflow was caught, deep enough: %d\n", depth > 15000);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  pthread_create(&thread, &attributes, on_a_small_stack, NULL);
  pthread_join(thread, NULL);
  return 0;
}
