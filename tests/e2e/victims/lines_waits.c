// SPDX-License-Identifier: Apache-2.0
// lines_waits FOLDER: the lines of hooks/waits.def. Each waits for some milliseconds.
#define _GNU_SOURCE
#include <aio.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/time.h>
#include <termios.h>
#include <threads.h>

#include "lines.h"

int __poll(struct pollfd *, nfds_t, int), __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
int __select(int, fd_set *, fd_set *, fd_set *, struct timeval *), __sigsuspend(const sigset_t *);
pid_t __waitpid(pid_t, int *, int), __wait(int *);
int __nanosleep(const struct timespec *, struct timespec *);

enum { kMs = 3, kNsPerMs = 1000000 };
static const struct timespec kTime = {0, kMs *kNsPerMs};

static struct timespec until(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  now.tv_nsec += kMs * kNsPerMs;
  return (struct timespec){now.tv_sec + now.tv_nsec / 1000000000, now.tv_nsec % 1000000000};
}

static struct timeval *short_time(void) {
  static struct timeval time;
  time = (struct timeval){0, kMs * 1000};
  return &time;
}

static int sleeps(void *given) { return usleep(kMs * 1000) + (given != NULL); }
static void *sleeps_too(void *given) {
  sleeps(NULL);
  return given;
}

static void on_descriptors(void) {
  struct pollfd one = {.fd = -1};
  struct epoll_event event;
  int set = epoll_create1(0);
  LINE(poll, 2, WAITED(poll(&one, 1, kMs) == 0));
  LINE(__poll, 2, WAITED(__poll(&one, 1, kMs) == 0));
  LINE(__poll_chk, 2, WAITED(__poll_chk(&one, 1, kMs, sizeof one) == 0));
  LINE(ppoll, 2, WAITED(ppoll(&one, 1, &kTime, NULL) == 0));
  LINE(__ppoll_chk, 2, WAITED(__ppoll_chk(&one, 1, &kTime, NULL, sizeof one) == 0));
  LINE(select, 2, WAITED(select(0, NULL, NULL, NULL, short_time()) == 0));
  LINE(__select, 2, WAITED(__select(0, NULL, NULL, NULL, short_time()) == 0));
  LINE(pselect, 2, WAITED(pselect(0, NULL, NULL, NULL, &kTime, NULL) == 0));
  LINE(epoll_wait, 2, WAITED(epoll_wait(set, &event, 1, kMs) == 0));
  LINE(epoll_pwait, 2, WAITED(epoll_pwait(set, &event, 1, kMs, NULL) == 0));
  LINE(epoll_pwait2, 2, WAITED(epoll_pwait2(set, &event, 1, &kTime, NULL) == 0));
}

static sem_t semaphore;
static cnd_t condition;
static mtx_t mutex;
static pthread_cond_t other_condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static volatile bool over;

// Wakes the threads that wait for one of these, seldom enough that a late thread still has to wait.
static int wakes(void *given) {
  while (!over) {
    for (int i = 0; i < 5; i++) sleeps(given);
    int waiting;
    if (sem_getvalue(&semaphore, &waiting) == 0 && waiting == 0) sem_post(&semaphore);
    cnd_signal(&condition), pthread_cond_signal(&other_condition);
  }
  return 0;
}

static bool no_post(void) {
  while (sem_trywait(&semaphore) == 0) continue;
  return true;
}

static void on_semaphores(void) {
  struct sembuf take = {0, -1, 0}, give = {0, 1, 0};
  struct timespec end;
  int id = semget(IPC_PRIVATE, 1, 0600);
  LINE(sem_timedwait, 2, WAITED(end = until(CLOCK_REALTIME), sem_timedwait(&semaphore, &end) == -1));
  LINE(sem_clockwait, 2, WAITED(end = until(CLOCK_MONOTONIC), sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end) == -1));
  LINE(semtimedop, 2, WAITED(semtimedop(id, &take, 1, &kTime) == -1 && errno == EAGAIN));
  pid_t child = fork();
  while (child == 0) sleeps(NULL), semtimedop(id, &give, 1, &kTime);
  LINE(semop, 2, WAITED(semop(id, &take, 1) == 0));
  kill(child, SIGKILL), waitpid(child, NULL, 0), semctl(id, 0, IPC_RMID);
}

static void on_conditions(void) {
  struct timespec end;
  mtx_lock(&mutex), pthread_mutex_lock(&other_mutex);
  LINE(cnd_timedwait, 2, WAITED(end = until(CLOCK_REALTIME), cnd_timedwait(&condition, &mutex, &end) == thrd_timedout));
  LINE(pthread_cond_timedwait, 2,
       WAITED(end = until(CLOCK_REALTIME), pthread_cond_timedwait(&other_condition, &other_mutex, &end) == ETIMEDOUT));
  LINE(pthread_cond_clockwait, 2,
       WAITED(end = until(CLOCK_MONOTONIC),
              pthread_cond_clockwait(&other_condition, &other_mutex, CLOCK_MONOTONIC, &end) == ETIMEDOUT));
  thrd_t waker;
  thrd_create(&waker, wakes, NULL);
  LINE(cnd_wait, 2, WAITED(cnd_wait(&condition, &mutex) == thrd_success));
  LINE(pthread_cond_wait, 2, WAITED(pthread_cond_wait(&other_condition, &other_mutex) == 0));
  LINE(sem_wait, 2, WAITED(no_post() && sem_wait(&semaphore) == 0));
  over = true, thrd_join(waker, NULL);
  UNRECORDED(sem_post, sem_post(&semaphore) == 0);
  UNRECORDED(pthread_cond_signal, pthread_cond_signal(&other_condition) == 0);
  UNRECORDED(pthread_cond_broadcast, pthread_cond_broadcast(&other_condition) == 0);
  UNRECORDED(cnd_signal, cnd_signal(&condition) == thrd_success);
  UNRECORDED(cnd_broadcast, cnd_broadcast(&condition) == thrd_success);
}

static pthread_t sleeper(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, sleeps_too, NULL)) fails("pthread_create", 0);
  return thread;
}

static void *meets(void *given) {
  sleeps(NULL), pthread_barrier_wait(&barrier);
  return given;
}

static void on_threads(void) {
  struct timespec later;
  pthread_t thread;
  clock_gettime(CLOCK_REALTIME, &later), later.tv_sec += 60;
  LINE(pthread_join, 2, WAITED(pthread_join(sleeper(), NULL) == 0));
  LINE(pthread_timedjoin_np, 2, WAITED(pthread_timedjoin_np(sleeper(), NULL, &later) == 0));
  LINE(pthread_clockjoin_np, 2, WAITED(pthread_clockjoin_np(sleeper(), NULL, CLOCK_REALTIME, &later) == 0));
  LINE(thrd_join, 2,
       WAITED(thrd_create(&thread, sleeps, NULL) == thrd_success && thrd_join(thread, NULL) == thrd_success));
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&thread, NULL, meets, NULL);
  // The other thread sleeps before it comes, and does not wait itself: it is the last.
  LINE(pthread_barrier_wait, 1, WAITED(pthread_barrier_wait(&barrier) <= 0));
  pthread_join(thread, NULL);
}

static pid_t child_that_sleeps(void) {
  pid_t child = fork();
  if (child == 0) sleeps(NULL), _exit(0);
  return child;
}

static void on_children(void) {
  struct rusage usage;
  siginfo_t info;
  pid_t child;
  LINE(waitpid, 2, WAITED(child = child_that_sleeps(), waitpid(child, NULL, 0) == child));
  LINE(__waitpid, 2, WAITED(child = child_that_sleeps(), __waitpid(child, NULL, 0) == child));
  LINE(wait, 2, WAITED(child = child_that_sleeps(), wait(NULL) == child));
  LINE(__wait, 2, WAITED(child = child_that_sleeps(), __wait(NULL) == child));
  LINE(wait3, 2, WAITED(child = child_that_sleeps(), wait3(NULL, 0, &usage) == child));
  LINE(wait4, 2, WAITED(child = child_that_sleeps(), wait4(child, NULL, 0, &usage) == child));
  LINE(waitid, 2, WAITED(child = child_that_sleeps(), waitid(P_PID, (id_t)child, &info, WEXITED) == 0));
}

static void on_time(void) {
  LINE(nanosleep, 2, WAITED(nanosleep(&kTime, NULL) == 0));
  LINE(__nanosleep, 2, WAITED(__nanosleep(&kTime, NULL) == 0));
  LINE(thrd_sleep, 2, WAITED(thrd_sleep(&kTime, NULL) == 0));
  LINE(clock_nanosleep, 2, WAITED(clock_nanosleep(CLOCK_MONOTONIC, 0, &kTime, NULL) == 0));
  LINE(usleep, 2, WAITED(usleep(kMs * 1000) == 0));
  LINE(sleep, 1, WAITED(sleep(1) == 0));
}

static void ignored(int number) { (void)number; }

static void tick(long ms) {
  const struct itimerval every = {{0, ms * 1000}, {0, ms * 1000}};
  setitimer(ITIMER_REAL, &every, NULL);
}

// An alarm every ten milliseconds, so that no wait is without an end.
static void on_signals(void) {
  const struct sigaction action = {.sa_handler = ignored};
  sigset_t none, alarms, before;
  siginfo_t info;
  int number;
  sigemptyset(&none), sigemptyset(&alarms), sigaddset(&alarms, SIGALRM);
  sigaction(SIGALRM, &action, NULL);
  LINE(sigtimedwait, 2, WAITED(sigtimedwait(&none, &info, &kTime) == -1 && errno == EAGAIN));
  tick(10);
  LINE(pause, 2, WAITED(pause() == -1 && errno == EINTR));
  LINE(sigsuspend, 2, WAITED(sigsuspend(&none) == -1 && errno == EINTR));
  LINE(__sigsuspend, 2, WAITED(__sigsuspend(&none) == -1 && errno == EINTR));
  sigprocmask(SIG_BLOCK, &alarms, &before);
  LINE(sigwait, 2, WAITED(sigwait(&alarms, &number) == 0 && number == SIGALRM));
  LINE(sigwaitinfo, 2, WAITED(sigwaitinfo(&alarms, &info) == SIGALRM));
  tick(0), signal(SIGALRM, SIG_IGN), sigprocmask(SIG_SETMASK, &before, NULL);
}

// A terminal's other end has nothing to write out, so that tcdrain returns at once: a thread is cancelled in it, which
// is a row too.
static void *drains(void *terminal) {
  pthread_cancel(pthread_self());
  tcdrain((int)(intptr_t)terminal);
  return terminal;
}

static bool cancelled_in_tcdrain(int terminal) {
  pthread_t thread;
  void *returned = NULL;
  return pthread_create(&thread, NULL, drains, (void *)(intptr_t)terminal) == 0 &&
         pthread_join(thread, &returned) == 0 && returned == PTHREAD_CANCELED;
}

static void on_requests(void) {
  static char byte;
  int ends[2], master, slave;
  if (pipe(ends) || openpty(&master, &slave, NULL, NULL, NULL)) fails("pipe, openpty", 0);
  static struct aiocb request;
  request = (struct aiocb){.aio_fildes = ends[0], .aio_buf = &byte, .aio_nbytes = 1};
  const struct aiocb *const list[] = {&request};
  aio_read(&request);
  LINE(aio_suspend, 2, WAITED(aio_suspend(list, 1, &kTime) == -1 && errno == EAGAIN));
  LINE(aio_suspend64, 2, WAITED(aio_suspend64((const struct aiocb64 *const *)list, 1, &kTime) == -1));
  LINE(tcdrain, 2, cancelled_in_tcdrain(slave));
  write(ends[1], "", 1);
}

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) return 2;
  sem_init(&semaphore, 0, 0), cnd_init(&condition), mtx_init(&mutex, mtx_plain);
  on_descriptors(), on_semaphores(), on_conditions(), on_threads(), on_children(), on_time(), on_signals(),
      on_requests();
  return 0;
}
