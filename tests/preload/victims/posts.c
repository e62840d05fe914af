// SPDX-License-Identifier: Apache-2.0
// posts HOW: threads that end each other's waits. Prints a line "NAME WAITER POSTER" for each wait: thread numbers, 0
// where the poster must be unknown. A thread posts when the other one sleeps.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { kWaiters = 8 };

static sem_t *semaphore, own_semaphore;
static pthread_cond_t *condition, own_condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static cnd_t other_condition;
static mtx_t other_mutex;
static uint32_t words[2];
static struct timespec later;

static int own_tid(void) { return (int)syscall(SYS_gettid); }

static void fails(const char *what) {
  perror(what);
  exit(1);
}

static void until_it_sleeps(int tid) {
  char path[64], text[256], state = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  for (int seen = 0; seen < 3; seen += state == 'S') {
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, sizeof text, file)) fails(path);
    fclose(file);
    state = strrchr(text, ')')[2];
    usleep(500);
  }
}

static long futex(uint32_t *word, int what, uint32_t value, long more, uint32_t *second, uint32_t last) {
  return syscall(SYS_futex, word, what | FUTEX_PRIVATE_FLAG, value, more, second, last);
}

static int waits_sem(void) { return sem_wait(semaphore); }
static int waits_timed(void) { return sem_timedwait(semaphore, &later); }
static int waits_clock(void) { return sem_clockwait(semaphore, CLOCK_REALTIME, &later); }
static int posts_sem(void) { return sem_post(semaphore); }
static int locked(int error) { return error | pthread_mutex_unlock(&mutex); }
static int waits_cond(void) { return pthread_mutex_lock(&mutex), locked(pthread_cond_wait(condition, &mutex)); }
static int waits_cond_timed(void) {
  return pthread_mutex_lock(&mutex), locked(pthread_cond_timedwait(condition, &mutex, &later));
}
static int waits_cond_clock(void) {
  return pthread_mutex_lock(&mutex), locked(pthread_cond_clockwait(condition, &mutex, CLOCK_REALTIME, &later));
}
static int signals(void) { return pthread_mutex_lock(&mutex), locked(pthread_cond_signal(condition)); }
static int broadcasts(void) { return pthread_mutex_lock(&mutex), locked(pthread_cond_broadcast(condition)); }
static int waits_cnd(void) {
  mtx_lock(&other_mutex);
  return cnd_wait(&other_condition, &other_mutex) | mtx_unlock(&other_mutex);
}
static int waits_cnd_timed(void) {
  mtx_lock(&other_mutex);
  return cnd_timedwait(&other_condition, &other_mutex, &later) | mtx_unlock(&other_mutex);
}
static int cnd_signals(void) { return cnd_signal(&other_condition); }
static int cnd_broadcasts(void) { return cnd_broadcast(&other_condition); }
static int waits_futex(void) { return (int)futex(words, FUTEX_WAIT, 0, 0, NULL, 0); }
static int waits_second(void) { return (int)futex(words + 1, FUTEX_WAIT, 0, 0, NULL, 0); }
static int waits_bits(void) { return (int)futex(words, FUTEX_WAIT_BITSET, 0, 0, NULL, 6); }
static int wakes(void) { return futex(words, FUTEX_WAKE, 1, 0, NULL, 0) != 1; }
static int wakes_bits(void) { return futex(words, FUTEX_WAKE_BITSET, 1, 0, NULL, 4) != 1; }
static int wakes_second(void) {
  return futex(words, FUTEX_WAKE_OP, 1, 1, words + 1, FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 0)) != 1;
}
static int requeues(void) { return futex(words, FUTEX_CMP_REQUEUE, 1, 0, words + 1, 0) != 1; }

struct waiter {
  int (*wait)(void);
  _Atomic int tid;
  pthread_t thread;
};
struct poster {
  int (*post)(void);
  struct waiter *waiter;
  int tid;
};

static void *runs_waiter(void *given) {
  struct waiter *waiter = given;
  waiter->tid = own_tid();
  if (waiter->wait()) fails("a wait");
  return NULL;
}

static void begin_waiter(struct waiter *waiter, int (*wait)(void)) {
  *waiter = (struct waiter){.wait = wait};
  if (pthread_create(&waiter->thread, NULL, runs_waiter, waiter)) fails("pthread_create");
  while (!waiter->tid) usleep(100);
  until_it_sleeps(waiter->tid);
}

static void *runs_poster(void *given) {
  struct poster *poster = given;
  poster->tid = own_tid();
  errno = 77;
  if (poster->post()) fails("a post");
  if (errno != 77) fails("errno");
  return NULL;
}

// The post is made by a thread that does nothing else, so it has no other record.
static int post_by_another(int (*post)(void)) {
  struct poster poster = {.post = post};
  pthread_t thread;
  if (pthread_create(&thread, NULL, runs_poster, &poster) || pthread_join(thread, NULL)) fails("a poster");
  return poster.tid;
}

static void one(const char *name, int (*wait)(void), int (*post)(void), int is_known) {
  struct waiter waiter;
  begin_waiter(&waiter, wait);
  int tid = post_by_another(post);
  pthread_join(waiter.thread, NULL);
  printf("%s %d %d\n", name, waiter.tid, is_known ? tid : 0);
}

static void kinds(void) {
  one("sem_wait", waits_sem, posts_sem, 1);
  one("sem_timedwait", waits_timed, posts_sem, 1);
  one("sem_clockwait", waits_clock, posts_sem, 1);
  one("pthread_cond_wait", waits_cond, signals, 1);
  one("pthread_cond_timedwait", waits_cond_timed, signals, 1);
  one("pthread_cond_clockwait", waits_cond_clock, broadcasts, 1);
  one("pthread_cond_wait", waits_cnd, cnd_signals, 1);
  one("pthread_cond_timedwait", waits_cnd_timed, cnd_broadcasts, 1);
  one("futex", waits_futex, wakes, 1);
  one("futex", waits_bits, wakes_bits, 1);
  one("futex", waits_second, wakes_second, 1);
  one("futex", waits_futex, requeues, 1);
}

// One broadcast to all of them; then a signal to each, by another thread each time.
static void many(void) {
  struct waiter waiters[kWaiters];
  for (int i = 0; i < kWaiters; i++) begin_waiter(&waiters[i], waits_cond);
  int tid = post_by_another(broadcasts);
  for (int i = 0; i < kWaiters; i++) {
    pthread_join(waiters[i].thread, NULL);
    printf("pthread_cond_wait %d %d\n", waiters[i].tid, tid);
  }
  for (int i = 0; i < kWaiters; i++) begin_waiter(&waiters[i], waits_sem);
  for (int i = 0, left = kWaiters; i < kWaiters; i++, left--) {
    int poster = post_by_another(posts_sem), woken = -1;
    while (woken < 0)
      for (int j = 0; j < kWaiters && woken < 0; j++)
        if (waiters[j].tid && pthread_tryjoin_np(waiters[j].thread, NULL) == 0) woken = j;
    printf("sem_wait %d %d\n", waiters[woken].tid, poster);
    waiters[woken].tid = 0;
  }
}

// A child in which no thread waits, though its parent had one; then the child's own.
static void forks(void) {
  struct waiter waiter;
  begin_waiter(&waiter, waits_sem);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    sem_init(&own_semaphore, 0, 0);
    one("sem_wait", waits_sem, posts_sem, 1);
    exit(0);
  }
  int status;
  if (waitpid(child, &status, 0) != child || status) fails("the child");
  int tid = post_by_another(posts_sem);
  pthread_join(waiter.thread, NULL);
  printf("sem_wait %d %d\n", waiter.tid, tid);
}

static void cancels(void) {
  int (*waits[])(void) = {waits_sem, waits_cond_timed, waits_clock};
  for (int i = 0; i < 3; i++) {
    struct waiter waiter;
    begin_waiter(&waiter, waits[i]);
    pthread_cancel(waiter.thread);
    pthread_join(waiter.thread, NULL);
    if (i == 1) pthread_mutex_unlock(&mutex), pthread_mutex_init(&mutex, NULL);
  }
  one("sem_wait", waits_sem, posts_sem, 1);
  one("pthread_cond_wait", waits_cond, signals, 1);
}

static sigjmp_buf back;
static void jumps(int number) { siglongjmp(back, number); }
static void *interrupts(void *thread) {
  until_it_sleeps(getpid());
  pthread_kill(*(pthread_t *)thread, SIGUSR1);
  return NULL;
}

static void jumps_out(void) {
  signal(SIGUSR1, jumps);
  pthread_t self = pthread_self(), other;
  pthread_create(&other, NULL, interrupts, &self);
  if (!sigsetjmp(back, 1)) sem_wait(semaphore);
  pthread_join(other, NULL);
  one("sem_wait", waits_sem, posts_sem, 1);
}

static void posts_in_handler(int number) {
  (void)number;
  sem_post(semaphore);
}
static int raises(void) { return raise(SIGUSR2); }

static void handles(void) {
  signal(SIGUSR2, posts_in_handler);
  one("sem_wait", waits_sem, raises, 1);
}

// Shared with another process: whichever posts, it is not told.
static void shares(void) {
  char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_condattr_t shared;
  pthread_condattr_init(&shared), pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  semaphore = (sem_t *)page, condition = (pthread_cond_t *)(page + 1024);
  if (sem_init(semaphore, 1, 0) || pthread_cond_init(condition, &shared)) fails("a shared object");
  one("sem_wait", waits_sem, posts_sem, 0);
  one("pthread_cond_wait", waits_cond, signals, 0);
  struct waiter waiter;
  begin_waiter(&waiter, waits_sem);
  pid_t child = fork();
  if (child == 0) _exit(posts_sem());
  waitpid(child, NULL, 0), pthread_join(waiter.thread, NULL);
  printf("sem_wait %d 0\n", waiter.tid);
}

int main(int count, char **arguments) {
  const char *how = count == 2 ? arguments[1] : "";
  clock_gettime(CLOCK_REALTIME, &later), later.tv_sec += 3600;
  semaphore = &own_semaphore, condition = &own_condition;
  sem_init(semaphore, 0, 0), cnd_init(&other_condition), mtx_init(&other_mutex, mtx_plain);
  if (!strcmp(how, "kinds")) kinds();
  if (!strcmp(how, "many")) many();
  if (!strcmp(how, "forks")) forks();
  if (!strcmp(how, "cancels")) cancels();
  if (!strcmp(how, "jumps")) jumps_out();
  if (!strcmp(how, "handles")) handles();
  if (!strcmp(how, "shares")) shares();
  return 0;
}
