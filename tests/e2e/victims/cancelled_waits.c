// SPDX-License-Identifier: Apache-2.0
// cancelled_waits: cancels a thread in each kind of wait, then jumps out of waits by a signal handler a hundred times.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t none;
static sigjmp_buf back;
static _Atomic long waiting;  // the thread that is about to wait

static void unlocks(void *what) { printf("the lock was held: %d\n", pthread_mutex_unlock(what)); }

static void *waits(void *how) {
  const struct timespec hour = {3600, 0};
  struct timespec until = {1ll << 40, 0};
  struct epoll_event event;
  sigset_t empty;
  sigemptyset(&empty);
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlocks, &mutex);
  waiting = syscall(SYS_gettid);
  if ((long)how == 0) pthread_cond_wait(&condition, &mutex);
  if ((long)how == 1) pthread_cond_timedwait(&condition, &mutex, &until);
  if ((long)how == 2) sem_wait(&none);
  if ((long)how == 3) sem_timedwait(&none, &until);
  if ((long)how == 4) poll(NULL, 0, -1);
  if ((long)how == 5) select(0, NULL, NULL, NULL, NULL);
  if ((long)how == 6) epoll_wait(epoll_create1(0), &event, 1, -1);
  if ((long)how == 7) nanosleep(&hour, NULL);
  if ((long)how == 8) sleep(3600);
  if ((long)how == 9) pause();
  if ((long)how == 10) sigtimedwait(&empty, NULL, &hour);
  if ((long)how == 11) pause();
  pthread_cleanup_pop(1);
  return NULL;
}

// Returns a while after the thread has fallen asleep: a thread that is cancelled before its wait has none to record.
static void until_it_waits(void) {
  char path[64], stat[256], state = 0;
  for (; state != 'S'; usleep(1000)) {
    if (waiting == 0) continue;
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", waiting);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(stat, sizeof stat, file) == NULL) _exit(1);
    fclose(file);
    state = strrchr(stat, ')')[2];
  }
  waiting = 0;
}

static void jumps(int signal) { siglongjmp(back, signal); }

int main(void) {
  const struct itimerval soon = {.it_value = {0, 2000}};
  sem_init(&none, 0, 0);
  for (long how = 0; how < 12; how++) {
    pthread_t thread;
    void *result = NULL;
    pthread_create(&thread, NULL, waits, (void *)how);
    until_it_waits();
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%ld cancelled: %d\n", how, result == PTHREAD_CANCELED);
    fflush(stdout);
  }
  signal(SIGALRM, jumps);
  volatile int jumped = 0;
  for (volatile int i = 0; i < 100; i++) {
    if (sigsetjmp(back, 1)) {
      jumped++;
      continue;
    }
    setitimer(ITIMER_REAL, &soon, NULL);
    if (i % 3 == 0) poll(NULL, 0, -1);
    if (i % 3 == 1) sem_wait(&none);
    if (i % 3 == 2) pause();
  }
  printf("jumped %d times\n", jumped);
  return 0;
}
