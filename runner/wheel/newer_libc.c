// SPDX-License-Identifier: Apache-2.0
// What our objects, compiled with the headers of a new glibc, and Debian's static libraries want from it, for a link with
// glibc 2.27. Linked only where it is wanted, and not exported. arc4random is weak: libevent's user defines it as well.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kSecond = 1000000000 };

char __libc_single_threaded;  // 2.32; 0: reference counts are always atomic

// 2.28: with offsets of 64 bits, as all are here.
int fcntl64(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return fcntl(fd, command, argument);
}

// 2.28.
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned int flags) {
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

// 2.30: libc's own, where it has one. Older ones wait by the time of day, as every std::condition_variable did then: a clock that is set
// back makes that wait longer.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  int (*own)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*) = NULL;
  *(void**)&own = dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  if (own != NULL) return own(condition, mutex, clock, until);
  struct timespec now, day;
  if (clock_gettime(clock, &now) != 0) return EINVAL;
  clock_gettime(CLOCK_REALTIME, &day);
  day.tv_sec += until->tv_sec - now.tv_sec;
  day.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (day.tv_nsec < 0) {
    day.tv_nsec += kSecond;
    --day.tv_sec;
  } else if (day.tv_nsec >= kSecond) {
    day.tv_nsec -= kSecond;
    ++day.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &day);
}

// 2.32. The names come from <errno.h>, by error_names.sh.
const char* strerrorname_np(int number) {
  switch (number) {
    case 0: return "0";
#define NAME(error) \
  case error:       \
    return #error;
#include "error_names.h"
#undef NAME
    default: return NULL;
  }
}

// 2.34
int close_range(unsigned first, unsigned last, int flags) { return (int)syscall(SYS_close_range, first, last, flags); }

// 2.36, for std::random_device
__attribute__((weak)) uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
    if (errno != EINTR) abort();
  }
  return number;
}
