// SPDX-License-Identifier: Apache-2.0
// command_clock FILE COMMAND... runs COMMAND and writes to FILE, as JSON, when it began and ended on CLOCK_MONOTONIC,
// the CPU time of it and of all descendants it waited for, and the CPU time that our parent, the tracer that started
// us, used so far: what comes later is the tracer's work after the command's end. Ends as the command did (128 + n for
// signal n).
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int64_t now_ns(clockid_t clock) {
  struct timespec time = {0};
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int64_t parent_cpu_ns(void) {
  clockid_t clock;
  return clock_getcpuclockid(getppid(), &clock) == 0 ? now_ns(clock) : 0;
}

static int64_t in_ns(struct timeval time) { return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL; }

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: command_clock FILE COMMAND...\n");
    return 2;
  }
  int64_t begin_ns = now_ns(CLOCK_MONOTONIC);
  pid_t child;
  int error = posix_spawnp(&child, argv[2], NULL, NULL, argv + 2, environ);
  if (error != 0) {
    fprintf(stderr, "command_clock: %s: %s\n", argv[2], strerror(error));
    return 127;
  }
  int status;
  struct rusage use;
  if (wait4(child, &status, 0, &use) != child) return 125;
  int64_t end_ns = now_ns(CLOCK_MONOTONIC);
  FILE *file = fopen(argv[1], "w");
  if (!file) {
    perror(argv[1]);
    return 125;
  }
  fprintf(file,
          "{\"begin_ns\": %lld, \"end_ns\": %lld, \"user_ns\": %lld, \"system_ns\": %lld, \"max_rss_kib\": %ld, "
          "\"parent_cpu_ns\": %lld}\n",
          (long long)begin_ns, (long long)end_ns, (long long)in_ns(use.ru_utime), (long long)in_ns(use.ru_stime),
          use.ru_maxrss, (long long)parent_cpu_ns());
  fclose(file);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
