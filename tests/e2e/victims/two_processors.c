// SPDX-License-Identifier: Apache-2.0
// Threads on the first two processors that this program may use, whose operations and switches are known. FILE has a page at least.
//
//   two_processors MODE FILE OUT NUMBER
//
// hands:  two threads, each on one processor, hand a page of FILE to each other through pipes of one page and put it into OUT,
//         NUMBER times to and fro: each waits for the other within an operation on a file (splice).
// moves:  one thread reads NUMBER times one byte, at offsets 0, 1, 2 and on, each time on the other processor.
// reads:  two threads, each on one processor, read the page NUMBER times. Nothing else is done to a file, but to open it.
//
// Prints for each of these threads: its name, tid, processor (-1: both), how often it was off the processor by its own count,
// and between which moments of CLOCK_MONOTONIC.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096 };

static int processors[2], in, out, there[2], back[2];
static long number;

struct moment {
  long switches;
  long long ns;
};

struct worker {
  const char *name;
  int processor;
  int (*work)(const struct worker *);
  struct moment begin, end;
  int tid, failed;
};

static void stay_on(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) abort();
}

static long switches(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

// No switch lies between what it counts and the time.
static struct moment now(void) {
  struct moment moment;
  do {
    struct timespec time;
    moment.switches = switches();
    clock_gettime(CLOCK_MONOTONIC, &time);
    moment.ns = time.tv_sec * 1000000000ll + time.tv_nsec;
  } while (switches() != moment.switches);
  return moment;
}

static int give(int to_pipe) {
  loff_t from = 0;
  return splice(in, &from, to_pipe, NULL, kPage, 0) != kPage;
}

static int take(int from_pipe) {
  loff_t to = 0;
  return splice(from_pipe, NULL, out, &to, kPage, 0) != kPage;
}

static int give_first(const struct worker *self) {
  (void)self;
  for (long i = 0; i < number; i++) {
    if (give(there[1]) || take(back[0])) return 1;
  }
  return 0;
}

static int take_first(const struct worker *self) {
  (void)self;
  for (long i = 0; i < number; i++) {
    if (take(there[0]) || give(back[1])) return 1;
  }
  return 0;
}

static int move(const struct worker *self) {
  (void)self;
  char byte;
  for (long i = 0; i < number; i++) {
    stay_on(processors[i % 2]);
    if (pread(in, &byte, 1, i) != 1) return 1;
  }
  return 0;
}

static int read_on(const struct worker *self) {
  (void)self;
  char page[kPage];
  for (long i = 0; i < number; i++) {
    if (pread(in, page, sizeof page, 0) != (ssize_t)sizeof page) return 1;
  }
  return 0;
}

static void *run(void *argument) {
  struct worker *worker = argument;
  if (worker->processor >= 0) stay_on(worker->processor);
  worker->tid = (int)syscall(SYS_gettid);
  worker->begin = now();
  worker->failed = worker->work(worker);
  worker->end = now();
  return NULL;
}

static int run_all(struct worker *workers, int count) {
  pthread_t threads[2];
  int failed = 0;
  for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, &workers[i]);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < count; i++) {
    const struct worker *worker = &workers[i];
    fprintf(stderr, "%s %d %d %ld %lld %lld\n", worker->name, worker->tid, worker->processor,
            worker->end.switches - worker->begin.switches, worker->begin.ns, worker->end.ns);
    failed |= worker->failed;
  }
  return failed;
}

static int find_processors(void) {
  cpu_set_t set;
  int found = 0;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  for (int i = 0; i < CPU_SETSIZE && found < 2; i++) {
    if (CPU_ISSET(i, &set)) processors[found++] = i;
  }
  return found == 2;
}

int main(int argc, char **argv) {
  if (argc != 5 || !find_processors()) return 2;
  stay_on(processors[0]);
  in = open(argv[2], O_RDONLY);
  number = atol(argv[4]);
  struct worker hands[2] = {{.name = "giver", .processor = processors[0], .work = give_first},
                            {.name = "taker", .processor = processors[1], .work = take_first}};
  struct worker moves = {.name = "move", .processor = -1, .work = move};
  struct worker reads[2] = {{.name = "first", .processor = processors[0], .work = read_on},
                            {.name = "second", .processor = processors[1], .work = read_on}};
  if (strcmp(argv[1], "moves") == 0) return run_all(&moves, 1);
  if (strcmp(argv[1], "reads") == 0) return run_all(reads, 2);
  out = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (strcmp(argv[1], "hands") != 0 || out < 0 || pipe(there) != 0 || pipe(back) != 0) return 2;
  if (fcntl(there[1], F_SETPIPE_SZ, kPage) != kPage || fcntl(back[1], F_SETPIPE_SZ, kPage) != kPage) return 2;
  return run_all(hands, 2);
}
