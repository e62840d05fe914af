// SPDX-License-Identifier: Apache-2.0
// What runner/wheel/newer_libc.c has in place of a newer glibc does what this glibc does. CMakeLists.txt gives its functions the
// names below; its dlsym finds nothing, as where libc has no pthread_cond_clockwait.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int own_fcntl64(int fd, int command, ...);
int own_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                       const struct timespec* until);
const char* own_error_name(int number);
int own_close_range(unsigned first, unsigned last, int flags);
uint32_t own_arc4random(void);
int own_renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned int flags);
void* find_nothing(void* handle, const char* name);

void* find_nothing(void* handle, const char* name) {
  (void)handle;
  (void)name;
  return NULL;
}

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
  const int wait_ms = 50;
  for (int waited_ms = 0; waited_ms < 1000;
       waited_ms += wait_ms) {  // a whole second: nanoseconds are carried, borrowed and neither
    const int64_t until = now_ns() + wait_ms * INT64_C(1000000);
    const struct timespec moment = {until / 1000000000, until % 1000000000};
    int result = 0;
    while (result == 0) result = own_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &moment);
    expect(result == ETIMEDOUT, "the wait ended with", result);
    expect(now_ns() >= until - 1000000, "the wait ended early, after ms", waited_ms);
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

static void check_renames(void) {
  char first[] = "/tmp/mlrun-first.XXXXXX", second[] = "/tmp/mlrun-second.XXXXXX";
  close(mkstemp(first));
  close(mkstemp(second));
  expect(own_renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_NOREPLACE) == -1 && errno == EEXIST,
         "a name that is there is replaced", errno);
  unlink(second);
  expect(own_renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_NOREPLACE) == 0, "not renamed", errno);
  expect(access(first, F_OK) == -1 && unlink(second) == 0, "not under its new name", errno);
}

int main(void) {
  check_renames();
  check_names();
  check_wait();
  check_descriptors();
  const uint32_t first = own_arc4random(), second = own_arc4random(), third = own_arc4random();
  expect(first != second || second != third, "the same number three times", (int)first);
  return 0;
}
