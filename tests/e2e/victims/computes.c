// SPDX-License-Identifier: Apache-2.0
// Threads that make no recorded call: each computes for its share of processor time, or touches pages of a mapped file
// that are not in memory, and waits for a mutex. Prints what the kernel says each has used once none of them runs:
//
//   TID cpu_ns majflt run_ns runq_ns
//
// usage: computes FILE MS...     a thread for each MS; one more touches FILE
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 16 };

struct worker {
  uint64_t wanted_ns, cpu_ns;
  long majflt;
  int tid;
};

static pthread_mutex_t over = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int done;
static volatile unsigned char *pages;
static size_t page_bytes, file_bytes;

static uint64_t cpu_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void *work(void *argument) {
  struct worker *self = argument;
  self->tid = (int)syscall(SYS_gettid);
  while (cpu_ns() < self->wanted_ns) {
  }
  for (size_t at = 0; self->wanted_ns == 0 && at < file_bytes; at += page_bytes) (void)pages[at];
  struct rusage used;
  getrusage(RUSAGE_THREAD, &used);
  self->majflt = used.ru_majflt;
  self->cpu_ns = cpu_ns();
  done++;
  pthread_mutex_lock(&over);
  pthread_mutex_unlock(&over);
  return NULL;
}

int main(int argc, char **argv) {
  static struct worker workers[kMost];
  static pthread_t threads[kMost];
  const int count = argc - 1;  // one for FILE
  if (argc < 2 || count > kMost) return 2;
  const int fd = open(argv[1], O_RDONLY);
  struct stat about;
  if (fd < 0 || fstat(fd, &about) != 0) return 3;
  file_bytes = (size_t)about.st_size;
  page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  pages = mmap(NULL, file_bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (pages == MAP_FAILED) return 4;
  madvise((void *)pages, file_bytes, MADV_RANDOM);
  pthread_mutex_lock(&over);
  for (int i = 0; i < count; i++) {
    workers[i].wanted_ns = i == 0 ? 0 : strtoull(argv[i + 1], NULL, 10) * 1000000u;
    pthread_create(&threads[i], NULL, work, &workers[i]);
  }
  while (done < count) usleep(10000);
  sleep(3);  // for samples of the end
  for (int i = 0; i < count; i++) {
    char path[64];
    unsigned long long run_ns = 0, runq_ns = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", workers[i].tid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%llu %llu", &run_ns, &runq_ns) != 2) return 5;
    fclose(file);
    printf("%d %llu %ld %llu %llu\n", workers[i].tid, (unsigned long long)workers[i].cpu_ns, workers[i].majflt, run_ns,
           runq_ns);
  }
  pthread_mutex_unlock(&over);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  return 0;
}
