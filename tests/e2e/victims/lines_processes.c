// SPDX-License-Identifier: Apache-2.0
// lines_processes FOLDER: the lines of hooks/processes.def but for allocations. It executes itself with the argument
// "done", which does nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <threads.h>
#include <utmp.h>

#include "lines.h"

pid_t __fork(void), _Fork(void), __vfork(void);
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static char self[4096];
static char *arguments[] = {self, (char[]){"done"}, NULL};
static char **environment;

// The program's own child, which no hook sees: system calls alone.
static pid_t hidden_child(void) { return (pid_t)syscall(SYS_fork); }

// Runs the call in a child, so that this program survives. The child exits if the call returns.
#define CHILD(...)                \
  ({                              \
    pid_t child = fork();         \
    if (child == 0) {             \
      (void)(__VA_ARGS__);        \
      syscall(SYS_exit_group, 9); \
    }                             \
    ended_well(child);            \
  })
#define EXECUTES(symbol, ...) LINE(symbol, 2, CHILD(__VA_ARGS__))

static bool child_that_aborts(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) abort();
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void forks(void) {
  pid_t child;
  LINE(fork, 2, (child = fork()) ? ended_well(child) : (_exit(0), true));
  LINE(__fork, 2, (child = __fork()) ? ended_well(child) : (_exit(0), true));
  LINE(_Fork, 2, (child = _Fork()) ? ended_well(child) : (_exit(0), true));
  LINE(vfork, 2, (child = vfork()) ? ended_well(child) : (_exit(0), true));
  LINE(__vfork, 2, (child = __vfork()) ? ended_well(child) : (_exit(0), true));
}

static void executes(void) {
  int fd = open(self, O_RDONLY | O_CLOEXEC);
  EXECUTES(execve, execve(self, arguments, environment));
  EXECUTES(execv, execv(self, arguments));
  EXECUTES(execvp, execvp(self, arguments));
  EXECUTES(execvpe, execvpe(self, arguments, environment));
  EXECUTES(execl, execl(self, self, "done", (char *)NULL));
  EXECUTES(execlp, execlp(self, self, "done", (char *)NULL));
  EXECUTES(execle, execle(self, self, "done", (char *)NULL, environment));
  EXECUTES(fexecve, fexecve(fd, arguments, environment));
  EXECUTES(execveat, execveat(AT_FDCWD, self, arguments, environment, 0));
  close(fd);
}

static void spawns(void) {
  pid_t child;
  FILE *stream;
  LINE(posix_spawn, 2, posix_spawn(&child, self, NULL, NULL, arguments, environment) == 0 && ended_well(child));
  LINE(posix_spawnp, 2, posix_spawnp(&child, self, NULL, NULL, arguments, environment) == 0 && ended_well(child));
  LINE(system, 2, system("exit 0") == 0);
  LINE(popen, 1, (stream = popen("exit 0", "r")) != NULL);
  pclose(stream);
}

static void *returns(void *given) { return given; }
static int returns_number(void *given) { return given != NULL; }

static void threads(void) {
  pthread_t threads[2];
  thrd_t others[2];
  LINE(pthread_create, 2, pthread_create(&threads[n], NULL, returns, NULL) == 0);
  LINE(thrd_create, 2, thrd_create(&others[n], returns_number, NULL) == thrd_success);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL), thrd_join(others[i], NULL);
  UNRECORDED(pthread_setname_np, pthread_setname_np(pthread_self(), "named") == 0);
}

// Who calls daemon() has ended; its child says through the pipe that it is there, and ends.
static bool became_daemon(void) {
  int ends[2];
  char byte = 0;
  if (syscall(SYS_pipe2, ends, 0)) return false;
  pid_t child = hidden_child();
  if (child == 0) {
    if (daemon(1, 1) == 0) syscall(SYS_write, ends[1], "d", 1);
    syscall(SYS_exit_group, 0);
  }
  syscall(SYS_close, ends[1]);
  bool came = syscall(SYS_read, ends[0], &byte, 1) == 1;
  syscall(SYS_close, ends[0]);
  return came && ended_well(child);
}

static void terminals(void) {
  int master, slave;
  pid_t child;
  LINE(daemon, 2, became_daemon());
  LINE(forkpty, 2, (child = forkpty(&master, NULL, NULL, NULL)) ? ended_well(child) : (_exit(0), true));
  if (openpty(&master, &slave, NULL, NULL, NULL)) fails("openpty", 0);
  UNRECORDED(login_tty, CHILD(login_tty(slave) == 0 ? syscall(SYS_exit_group, 0) : 0));
}

static void ends(void) {
  UNRECORDED(_exit, CHILD((_exit(0), 0)));
  UNRECORDED(_Exit, CHILD((_Exit(0), 0)));
  UNRECORDED(quick_exit, CHILD((quick_exit(0), 0)));
  UNRECORDED(abort, child_that_aborts());
}

static void settings(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  UNRECORDED(unshare, unshare(0) == 0);
  UNRECORDED(setns, setns(-1, 0) == -1);
  UNRECORDED(prctl, prctl(PR_GET_DUMPABLE) >= 0);
  UNRECORDED(syscall, syscall(SYS_getpid) == getpid());
  UNRECORDED(setrlimit, setrlimit(RLIMIT_NOFILE, &limit) == 0);
  UNRECORDED(setrlimit64, setrlimit64(RLIMIT_NOFILE, (struct rlimit64 *)&limit) == 0);
  UNRECORDED(prlimit, prlimit(0, RLIMIT_NOFILE, &limit, NULL) == 0);
  UNRECORDED(prlimit64, prlimit64(0, RLIMIT_NOFILE, (struct rlimit64 *)&limit, NULL) == 0);
  UNRECORDED(mlockall, mlockall(MCL_CURRENT | MCL_ONFAULT) == 0 || errno == EPERM || errno == ENOMEM);
  munlockall();
  void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  UNRECORDED(shmdt, shmdt(page) == -1);
  void *library = NULL;
  UNRECORDED(dlopen, (library = dlopen("libm.so.6", RTLD_NOW)) != NULL);
  UNRECORDED(dlmopen, dlmopen(LM_ID_BASE, "libm.so.6", RTLD_NOW) != NULL);
  UNRECORDED(dlsym, dlsym(library, "cos") != NULL);
  UNRECORDED(dlvsym, dlvsym(library, "cos", "GLIBC_2.2.5") != NULL);
  UNRECORDED(dlclose, library && dlclose(library) == 0);
}

int main(int count, char **given, char **variables) {
  if (count != 2) return 2;
  if (!strcmp(given[1], "done")) syscall(SYS_exit_group, 0);
  if (!realpath(given[0], self) || chdir(given[1])) return 2;
  environment = variables;
  forks(), executes(), spawns(), threads(), terminals(), ends(), settings();
  return 0;
}
