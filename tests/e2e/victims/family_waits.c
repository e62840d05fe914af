// SPDX-License-Identifier: Apache-2.0
// family_waits: every kind of wait for a few milliseconds, and a thousand times none at all.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "family.h"

// Who waits for something that a clock has begun before must not come too late, even traced on a busy machine: kLate.
enum { kMs = 1000000, kLate = 200 };

static struct timespec in_ms(clockid_t clock, long ms) {
  struct timespec now;
  clock_gettime(clock, &now);
  now.tv_nsec += ms * kMs;
  return (struct timespec){now.tv_sec + now.tv_nsec / 1000000000, now.tv_nsec % 1000000000};
}

static void *sleeps(void *unused) {
  struct timespec time = {0, kLate * kMs};
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
  return unused;
}

static void on_descriptors(void) {
  struct timespec time = {0, 3 * kMs};
  struct timeval short_time = {0, 3000};
  struct epoll_event event;
  int set = epoll_create1(0);
  for (int i = 0; i < 1000; i++) poll(NULL, 0, 0);
  poll(NULL, 0, 3), ppoll(NULL, 0, &time, NULL), select(0, NULL, NULL, NULL, &short_time);
  pselect(0, NULL, NULL, NULL, &time, NULL);
  epoll_wait(set, &event, 1, 3), epoll_pwait(set, &event, 1, 3, NULL), epoll_wait(set, &event, 1, 0);
}

static void on_threads(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_t thread;
  sem_t semaphore;
  uint32_t word = 0;
  struct timespec time = {0, 3 * kMs}, until = in_ms(CLOCK_REALTIME, kLate);
  sem_init(&semaphore, 0, 1);
  sem_wait(&semaphore), sem_timedwait(&semaphore, &until);
  until = in_ms(CLOCK_MONOTONIC, kLate), sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until);
  pthread_mutex_lock(&mutex);
  until = in_ms(CLOCK_REALTIME, kLate), pthread_cond_timedwait(&condition, &mutex, &until);
  until = in_ms(CLOCK_MONOTONIC, kLate), pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until);
  pthread_create(&thread, NULL, sleeps, NULL), pthread_join(thread, NULL);
  syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0), syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void on_time_and_children(void) {
  struct timespec time = {0, 3 * kMs}, child_time = {0, kLate * kMs};
  sigset_t none;
  sigemptyset(&none);
  nanosleep(&time, NULL), clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL), usleep(3000), sleep(1);
  sigtimedwait(&none, NULL, &time);
  for (int how = 0; how < 3; how++) {
    pid_t child = fork();
    if (child == 0) nanosleep(&child_time, NULL), _exit(0);
    siginfo_t info;
    if (how == 0) waitpid(child, NULL, 0);
    if (how == 1) wait(NULL);
    if (how == 2) waitid(P_PID, (id_t)child, &info, WEXITED);
  }
}

int main(void) {
  begin_calls();
  on_descriptors();
  on_threads();
  on_time_and_children();
  end_calls();
  return 0;
}
