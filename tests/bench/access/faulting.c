// SPDX-License-Identifier: Apache-2.0
// A program that takes page faults without pause: faulting MIB FILE. A turn: 256 writes at random places of a block of MIB, then 256 KiB are mapped,
// written page by page and unmapped. FILE is one page, shared with run.py: a snapshot, taken each 20 ms while the program runs, of its turns, the wall time,
// its CPU time and the time that it was ready and waited for a processor, all in ns; its longest turn in ns (run.py resets it); whether to end.
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096, kWrites = 256, kMapped = 256 << 10, kSnapshotNs = 20000000 };

struct shared {
  _Atomic uint64_t turns, wall_ns, ran_ns, waited_ns, longest_ns, end;
};

static uint64_t clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
// It is exact at this moment, as the program runs.
static uint64_t waited_ns(int schedstat) {
  char text[128], *at = text;
  ssize_t got = pread(schedstat, text, sizeof text - 1, 0);
  if (got <= 0) exit(5);
  text[got] = 0;
  strtoull(at, &at, 10);
  return strtoull(at, &at, 10);
}
static void publish(struct shared *shared, uint64_t turns, uint64_t wall_ns, int schedstat) {
  atomic_store(&shared->wall_ns, wall_ns);
  atomic_store(&shared->ran_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
  atomic_store(&shared->waited_ns, waited_ns(schedstat));
  atomic_store(&shared->turns, turns);
}
static char *fresh(size_t bytes) {
  char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED || madvise(at, bytes, MADV_NOHUGEPAGE)) exit(4);
  return at;
}
static void take_turn(char *block, size_t bytes, uint64_t *random) {
  for (int i = 0; i < kWrites; i++) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    *(volatile char *)(block + (*random >> 20) % bytes) += 1;
  }
  char *at = fresh(kMapped);
  for (size_t page = 0; page < kMapped; page += kPage) *(volatile char *)(at + page) = 1;
  munmap(at, kMapped);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  size_t bytes = strtoul(argv[1], NULL, 0) << 20;
  int file = open(argv[2], O_RDWR | O_CLOEXEC);
  struct shared *shared = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (!bytes || shared == MAP_FAILED) return 3;
  int schedstat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
  char *block = fresh(bytes);
  memset(block, 1, bytes);
  uint64_t random = 1, before_ns = clock_ns(CLOCK_MONOTONIC), published_ns = 0;
  for (uint64_t turns = 1; !atomic_load(&shared->end); turns++) {
    take_turn(block, bytes, &random);
    uint64_t ended_ns = clock_ns(CLOCK_MONOTONIC);
    if (ended_ns - before_ns > atomic_load(&shared->longest_ns))
      atomic_store(&shared->longest_ns, ended_ns - before_ns);
    if (ended_ns - published_ns >= kSnapshotNs) {
      publish(shared, turns, ended_ns, schedstat);
      published_ns = ended_ns;
    }
    before_ns = ended_ns;
  }
  return 0;
}
