// SPDX-License-Identifier: Apache-2.0
// What runner/wheel/newer_libc.c has in place of a newer glibc does what this glibc does.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define __libc_single_threaded own_single_threaded
#define arc4random             own_arc4random
#define close_range            own_close_range
#define fcntl64                own_fcntl64
#define pthread_cond_clockwait own_cond_clockwait
#define strerrorname_np        own_error_name
#define dlsym(handle, name)    (NULL)  // as where libc has no pthread_cond_clockwait
#include "runner/wheel/newer_libc.c"
#undef close_range
#undef strerrorname_np

const char* strerrorname_np(int number);

static void expect(int holds, const char* what, int number) {
  if (holds) return;
  printf("%s (%d)\n", what, number);
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void check_names(void) {
  for (int number = -1; number < 4096; ++number) {
    const char *own = own_error_name(number), *known = strerrorname_np(number);
    expect(own == known || (own != NULL && known != NULL && strcmp(own, known) == 0), "another name of an error",
           number);
  }
}

static void check_wait(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  for (int wait_ms = 0; wait_ms < 50; wait_ms += 7) {  // the sum of nanoseconds is carried, or is not
    const int64_t until = now_ns() + wait_ms * INT64_C(1000000);
    const struct timespec moment = {until / 1000000000, until % 1000000000};
    int result = 0;
    while (result == 0) result = own_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &moment);
    expect(result == ETIMEDOUT, "the wait ended with", result);
    expect(now_ns() >= until - 1000000, "the wait ended early, after ms", wait_ms);
  }
  pthread_mutex_unlock(&mutex);
}

static void check_descriptors(void) {
  const int fd = own_fcntl64(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
  expect(fd >= 100, "no descriptor from 100 on", fd);
  expect(fcntl(fd, F_GETFD) == FD_CLOEXEC, "not closed on exec", fd);
  expect(own_close_range((unsigned)fd, (unsigned)fd, 0) == 0 || errno == ENOSYS, "close_range fails", errno);
  expect(errno == ENOSYS || fcntl(fd, F_GETFD) == -1, "still open", fd);
}

int main(void) {
  check_names();
  check_wait();
  check_descriptors();
  const uint32_t first = own_arc4random(), second = own_arc4random(), third = own_arc4random();
  expect(first != second || second != third, "the same number three times", (int)first);
  return 0;
}
