// SPDX-License-Identifier: Apache-2.0
// Copies between the (mock) GPU and buffers whose pages are where it says: host_copies KIND:BYTES:WHERE:TIMES...
//   KIND   to, from, any (to the device, by its address), rows (to, in rows of half their distance)
//   WHERE  heap      a block of malloc, written by allocate_batch; freed behind the copies
//          shifted   the same, from 100 bytes behind its beginning on
//          fresh     a block of malloc, never written
//          pinned    cudaMallocHost
//          0, 1, ... a mapping bound to that node;  01: pages in turn on nodes 0 and 1
// For each of them a line: address of the buffer, bytes of each copy, nanoseconds of processor time of one, the least of
//   some batches.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern int cudaMalloc(void **address, size_t bytes);
extern int cudaMallocHost(void **address, size_t bytes);
extern int cudaMemcpy(void *target, const void *source, size_t bytes, int kind);
extern int cudaMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream);
extern int cudaMemcpy2D(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                        size_t height, int kind);

enum { kPage = 4096, kBind = 2, kShift = 100, kRows = 4, kBatch = 100 };
#define OWN __attribute__((noinline, noclone))

OWN static char *allocate_batch(size_t bytes) {
  char *volatile block = malloc(bytes);
  if (!block) exit(4);
  memset(block, 1, bytes);
  return block;
}
OWN static char *pin_batch(size_t bytes) {
  void *volatile block = NULL;
  if (cudaMallocHost((void **)&block, bytes)) exit(4);
  return block;
}

static void bind_to(char *at, size_t bytes, unsigned node) {
  unsigned long mask = 1ul << node;
  if (syscall(SYS_mbind, at, bytes, kBind, &mask, 8 * sizeof mask, 0)) exit(5);
}
static char *mapped(size_t bytes, const char *nodes) {
  char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) exit(4);
  madvise(block, bytes, MADV_NOHUGEPAGE);
  if (!nodes[1]) bind_to(block, bytes, (unsigned)(nodes[0] - '0'));
  for (size_t page = 0; nodes[1] && page < (bytes + kPage - 1) / kPage; page++)
    bind_to(block + page * kPage, kPage, (unsigned)(nodes[page % 2] - '0'));
  memset(block, 1, bytes);
  return block;
}

static void copy(const char *kind, void *device, char *host, size_t bytes) {
  int failed = 1;
  if (!strcmp(kind, "to")) failed = cudaMemcpyAsync(device, host, bytes, 1, NULL);
  if (!strcmp(kind, "from")) failed = cudaMemcpy(host, device, bytes, 2);
  if (!strcmp(kind, "any")) failed = cudaMemcpy(device, host, bytes, 4);
  size_t width = bytes / kRows / 2;
  if (!strcmp(kind, "rows")) failed = cudaMemcpy2D(device, width, host, 2 * width, width, kRows, 1);
  if (failed) exit(6);
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

OWN static void do_copies(char *what) {
  const char *kind = strtok(what, ":");
  size_t bytes = strtoull(strtok(NULL, ":"), NULL, 10);
  const char *where = strtok(NULL, ":");
  long times = atol(strtok(NULL, ":"));
  char *block = NULL, *host = NULL;
  size_t shift = strcmp(where, "shifted") ? 0 : kShift;
  if (!strcmp(where, "heap") || shift) block = allocate_batch(bytes + shift);
  if (!strcmp(where, "fresh")) block = malloc(bytes);
  if (!strcmp(where, "pinned")) host = pin_batch(bytes);
  if (block)
    host = block + shift;
  else if (!host)
    host = mapped(bytes, where);
  void *device = NULL;
  if (cudaMalloc(&device, bytes)) exit(6);
  uint64_t least_ns = UINT64_MAX;
  for (long done = 0; done < times;) {
    long end = done + kBatch < times ? done + kBatch : times, count = end - done;
    uint64_t begin = now();
    for (; done < end; done++) copy(kind, device, host, bytes);
    uint64_t each_ns = (now() - begin) / (uint64_t)count;
    if (each_ns < least_ns) least_ns = each_ns;
  }
  printf("%lu %zu %lu\n", (unsigned long)(uintptr_t)host, bytes, (unsigned long)least_ns);
  fflush(stdout);
  free(block);
}

int main(int argc, char **argv) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned) = cuda ? (int (*)(unsigned))dlsym(cuda, "cuInit") : NULL;
  if (!init || init(0)) return 77;
  for (int i = 1; i < argc; i++) do_copies(argv[i]);
  return 0;
}
