// SPDX-License-Identifier: Apache-2.0
// Each thread pins itself to its CPU, warms up, meets the others and runs the loop; the line printed holds times of
// CLOCK_MONOTONIC from the first start to the last end, and the CPU time of the threads and of their children in
// between. With one thread no thread is made: libc has a faster path for a process that never had a second one.
#include "measure.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "loops.h"

enum { kMaxThreads = 64, kWarmUpShare = 10 };

struct worker {
  const struct loop *loop;
  long iterations;
  int cpu;
  pthread_barrier_t *start;  // null where there is one thread
  int64_t begin_ns, end_ns, cpu_ns, children_cpu_ns;
};

const char *data_path;

void give_up(const char *what) {
  perror(what);
  exit(1);
}

static int64_t now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int64_t children_cpu_ns(void) {
  struct rusage use;
  getrusage(RUSAGE_CHILDREN, &use);
  return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000000LL +
         (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000LL;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(worker->cpu, &cpus);
  if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) give_up("pinning to a CPU");
  worker->loop->run(worker->iterations / kWarmUpShare + 1);
  if (worker->start) pthread_barrier_wait(worker->start);
  worker->cpu_ns = -now_ns(CLOCK_THREAD_CPUTIME_ID);
  worker->children_cpu_ns = -children_cpu_ns();
  worker->begin_ns = now_ns(CLOCK_MONOTONIC);
  worker->loop->run(worker->iterations);
  worker->end_ns = now_ns(CLOCK_MONOTONIC);
  worker->children_cpu_ns += children_cpu_ns();
  worker->cpu_ns += now_ns(CLOCK_THREAD_CPUTIME_ID);
  return NULL;
}

static const struct loop *find_loop(const char *name) {
  const struct loop *tables[] = {allocation_loops, deep_loops, file_loops, post_loops, process_loops, clock_loops};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    for (const struct loop *loop = tables[i]; loop->name; loop++) {
      if (strcmp(loop->name, name) == 0) return loop;
    }
  }
  return NULL;
}

static void run_threads(struct worker *workers, int threads) {
  pthread_t handles[kMaxThreads];
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++) {
    workers[i].start = &start;
    if (pthread_create(&handles[i], NULL, work, &workers[i]) != 0) give_up("pthread_create");
  }
  for (int i = 0; i < threads; i++) pthread_join(handles[i], NULL);
}

static void print_times(const struct worker *workers, int threads) {
  struct worker all = workers[0];
  for (int i = 1; i < threads; i++) {
    if (workers[i].begin_ns < all.begin_ns) all.begin_ns = workers[i].begin_ns;
    if (workers[i].end_ns > all.end_ns) all.end_ns = workers[i].end_ns;
    all.cpu_ns += workers[i].cpu_ns;
    all.children_cpu_ns += workers[i].children_cpu_ns;
  }
  printf(
      "{\"loop\": \"%s\", \"threads\": %d, \"iterations\": %ld, \"calls\": %ld, \"begin_ns\": %lld, \"end_ns\": %lld, "
      "\"cpu_ns\": %lld, \"children_cpu_ns\": %lld}\n",
      all.loop->name, threads, all.iterations, all.iterations * all.loop->calls, (long long)all.begin_ns,
      (long long)all.end_ns, (long long)all.cpu_ns, (long long)all.children_cpu_ns);
  fflush(stdout);
}

// Fills one worker per thread from "0,1": thread i runs on the i-th CPU of the list, around again where it is too
// short.
static void assign_cpus(struct worker *workers, int threads, const char *list) {
  const char *at = list;
  for (int i = 0; i < threads; i++) {
    char *end;
    workers[i].cpu = (int)strtol(at, &end, 10);
    at = *end == ',' ? end + 1 : list;
  }
}

int measure(int argc, char **argv) {
  const struct loop *loop = argc == 6 ? find_loop(argv[1]) : NULL;
  long iterations = loop ? atol(argv[2]) : 0;
  int threads = loop ? atoi(argv[3]) : 0;
  if (iterations < 1 || threads < 1 || threads > kMaxThreads) {
    fprintf(stderr, "usage: measure LOOP ITERATIONS THREADS CPUS DATA\n");
    return 2;
  }
  data_path = argv[5];
  struct worker workers[kMaxThreads];
  for (int i = 0; i < threads; i++) workers[i] = (struct worker){.loop = loop, .iterations = iterations};
  assign_cpus(workers, threads, argv[4]);
  if (threads == 1) {
    work(&workers[0]);
  } else {
    run_threads(workers, threads);
  }
  print_times(workers, threads);
  return 0;
}
