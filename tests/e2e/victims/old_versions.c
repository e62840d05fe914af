// SPDX-License-Identifier: Apache-2.0
// old_versions FOLDER: calls functions that libc has in two versions, as a program of old is linked with them (or, with
// NEW, one of today), and says what each did. FOLDER has a `script` without #! and a link `nowhere` that leads nowhere.
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef NEW
#define OF(version, name) __asm__(".symver " #name ", " #name "@GLIBC_" version)
OF("2.2.5", posix_spawn);
OF("2.2.5", posix_spawnp);
OF("2.2.5", realpath);
OF("2.2.5", glob);
OF("2.2.5", glob64);
OF("2.2.5", nftw);
OF("2.2.5", nftw64);
OF("2.2.5", pthread_cond_init);
OF("2.2.5", pthread_cond_signal);
OF("2.2.5", pthread_cond_wait);
OF("2.2.5", pthread_cond_timedwait);
OF("2.2.5", lio_listio);
OF("2.2.5", lio_listio64);
OF("2.10", quick_exit);
#endif

extern char **environ;
extern char __dso_handle;
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library);

static void say(const char *what, long result) { printf("%s: %ld\n", what, result); }

typedef int spawner(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *,
                    char *const *);
static void spawns(const char *what, spawner *spawn, char *path) {
  char *arguments[] = {path, NULL};
  pid_t child;
  int status = 0, error = spawn(&child, path, NULL, NULL, arguments, environ);
  if (!error) waitpid(child, &status, 0);
  say(what, error ? error : status);
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *at) {
  (void)path, (void)status, (void)type, (void)at;
  return 0;
}
static int visit64(const char *path, const struct stat64 *status, int type, struct FTW *at) {
  return visit(path, (const struct stat *)status, type, at);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static union {
  pthread_cond_t condition;
  unsigned char bytes[sizeof(pthread_cond_t)];
} waited_for;
static int woken;

static void *wake(void *nothing) {
  usleep(20000);
  pthread_mutex_lock(&mutex);
  woken = 1;
  pthread_cond_signal(&waited_for.condition);
  pthread_mutex_unlock(&mutex);
  return nothing;
}

// A condition of old is the first word alone.
static void waits(void) {
  struct timespec until;
  pthread_t waker;
  size_t untouched = 0;
  pthread_cond_init(&waited_for.condition, NULL);
#ifndef NEW
  memset(waited_for.bytes + sizeof(void *), 0xaa, sizeof waited_for - sizeof(void *));
#endif
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += until.tv_nsec >= 950000000;
  until.tv_nsec = (until.tv_nsec + 50000000) % 1000000000;
  pthread_mutex_lock(&mutex);
  say("timed wait", pthread_cond_timedwait(&waited_for.condition, &mutex, &until));
  pthread_create(&waker, NULL, wake, NULL);
  while (!woken) say("wait", pthread_cond_wait(&waited_for.condition, &mutex));
  pthread_mutex_unlock(&mutex);
  pthread_join(waker, NULL);
  for (size_t i = sizeof(void *); i < sizeof waited_for; i++) untouched += waited_for.bytes[i] == 0xaa;
  say("bytes behind it that are as they were", (long)untouched);
}

static volatile int reported;
static void count(int number) { reported += number == SIGUSR1; }

static void lists(const char *what, char *path, int (*list)(int, struct aiocb *const *, int, struct sigevent *)) {
  char byte;
  struct aiocb request = {
      .aio_fildes = fileno(fopen(path, "r")), .aio_buf = &byte, .aio_nbytes = 1, .aio_lio_opcode = LIO_READ};
  struct aiocb *requests[] = {&request};
  request.aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  reported = 0;
  signal(SIGUSR1, count);
  int result = list(LIO_WAIT, requests, 1, NULL);
  for (int i = 0; i < 20 && !reported; i++) usleep(10000);
  say(what, result ? errno : reported);
}

static void destroy(void *object) {
  printf("destroyed: %s\n", (const char *)object);
  fflush(stdout);
}

static int stat_of(const char *path, void *status) { return stat(path, status); }
static int lstat_of(const char *path, void *status) { return lstat(path, status); }

// By functions of the program: the one of old asks what the link leads to, the one of today what is there.
#define GLOB(type, function)                                                    \
  do {                                                                          \
    type own = {.gl_opendir = (void *)opendir,                                  \
                .gl_readdir = (void *)readdir,                                  \
                .gl_closedir = (void *)closedir,                                \
                .gl_stat = (void *)stat_of,                                     \
                .gl_lstat = (void *)lstat_of};                                  \
    say(#function, function("./nowhere", GLOB_ALTDIRFUNC, NULL, (void *)&own)); \
  } while (0)

int main(int argc, char **argv) {
  char *here;
  if (argc < 2 || chdir(argv[1]) != 0) return 1;
  spawns("posix_spawn", posix_spawn, "./script");
  spawns("posix_spawnp", posix_spawnp, "./script");
  here = realpath(".", NULL);
  say("realpath", here ? 0 : errno);
  GLOB(glob_t, glob);
  GLOB(glob64_t, glob64);
  say("nftw", nftw(".", visit, 4, 1 << 20) ? errno : 0);
  say("nftw64", nftw64(".", visit64, 4, 1 << 20) ? errno : 0);
  waits();
  lists("lio_listio", "./script", lio_listio);
  lists("lio_listio64", "./script", (int (*)(int, struct aiocb *const *, int, struct sigevent *))lio_listio64);
  __cxa_thread_atexit_impl(destroy, "of this thread", &__dso_handle);
  fflush(stdout);
  quick_exit(7);
}
