// SPDX-License-Identifier: Apache-2.0
// The victim of `mlrun bench`, run traced and untraced: runs the loop that standard input names and answers with its
// CPU time.
//
//   mlrun-bench-loops DATA CPU      stdin, which is a socket: "LOOP ITERATIONS\n"; answer there: "NANOSECONDS\n"
//   mlrun-bench-loops               exits at once; the loop `exec` starts it like this
//
// The time is the CPU time of this process and of the children it waited for, which excludes other load of the machine.
// Exits at the end of its input.
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "loops.h"

enum { kWarmUpShare = 8, kLineBytes = 128 };

const char *data_path, *program_path;
static int64_t watch_ns;

void give_up(const char *what) {
  perror(what);
  _exit(1);
}

static int64_t in_ns(struct timeval time) { return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL; }

static int64_t cpu_ns(void) {
  struct timespec own;
  struct rusage children;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  getrusage(RUSAGE_CHILDREN, &children);
  return own.tv_sec * 1000000000LL + own.tv_nsec + in_ns(children.ru_utime) + in_ns(children.ru_stime);
}

void start_watch(void) { watch_ns -= cpu_ns(); }
void stop_watch(void) { watch_ns += cpu_ns(); }

static const struct loop *find_loop(const char *name) {
  const struct loop *tables[] = {allocation_loops, file_loops, mark_loops, post_loops, process_loops};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    for (const struct loop *loop = tables[i]; loop->name; loop++) {
      if (strcmp(loop->name, name) == 0) return loop;
    }
  }
  return NULL;
}

static int64_t timed(const struct loop *loop, long iterations) {
  start_watch();
  loop->run(iterations / kWarmUpShare + 1);
  stop_watch();
  watch_ns = 0;
  start_watch();
  loop->run(iterations);
  stop_watch();
  return watch_ns;
}

// Runs the loop of a request and answers. 0: the line is malformed, or the answer cannot be written.
static int answer(char *line) {
  char *blank = strchr(line, ' ');
  if (!blank) return 0;
  *blank = 0;
  const struct loop *loop = find_loop(line);
  long iterations = atol(blank + 1);
  if (!loop || iterations < 1) return 0;
  char text[kLineBytes];
  int bytes = snprintf(text, sizeof text, "%lld\n", (long long)timed(loop, iterations));
  return write(STDIN_FILENO, text, (size_t)bytes) == bytes;
}

static void pin_to(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);  // on failure the loops run unpinned
}

int main(int argc, char **argv) {
  if (argc < 3) return 0;
  program_path = argv[0];
  data_path = argv[1];
  pin_to(atoi(argv[2]));
  char line[kLineBytes];
  ssize_t bytes;
  // mlrun sends one request at a time, so each read returns one request.
  while ((bytes = read(STDIN_FILENO, line, sizeof line - 1)) > 0) {
    line[bytes] = 0;
    if (!answer(line)) return 2;
  }
  return 0;
}
