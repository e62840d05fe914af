// SPDX-License-Identifier: Apache-2.0
// Buffers as CUPTI fills them, read by the product with NVIDIA's own libcupti, which needs no driver for that: every
// record is found where it is, and is what it is. Compiled once with the headers of CUPTI 12 and once with those of
// CUPTI 13. Usage: record_reader_test LIBCUPTI
#include "cupti/record_reader.h"

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_version.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cupti/buffers.h"
#include "cupti/find_cupti.h"
#include "cupti/session.h"
#include "cupti/traced_calls.h"
#include "runner/events/content_hash.h"

#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 kernel_now;
#else
typedef CUpti_ActivityKernel9 kernel_now;
#endif
typedef CUpti_ActivityMemcpy6 memcpy_now;
typedef CUpti_ActivityMemset4 memset_now;
typedef CUpti_ActivityDevice5 device_now;

enum { kWords = 1 << 16, kRounds = 3 };

static __u64 words[kWords];
static size_t used;  // words
static uint8_t buffer[1 << 16] __attribute__((aligned(8)));
static size_t filled;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static uint32_t streams(void) { return MLRUN_STREAM_GPU; }
static __u64 ticks(void) { return 12345; }
static __u64 monotonic_ns(void) { return now(); }
static __u64 *reserve(__u32 bytes, __u8 *lap) {
  __u64 *at = words + used;
  used += bytes / sizeof *at;
  if (used > kWords) abort();
  *lap = 1;
  return at;
}
static __u64 string_id(const char *text, __u64 bytes, __u64 *record_bytes) {
  *record_bytes = 0;
  return mlrun_content_hash(text, bytes);
}
static void (*function(const char *name))(void) { return (void (*)(void))dlsym(RTLD_DEFAULT, name); }

static bool may_free = true;
static bool may_call_kernel(void) { return may_free; }
static __u32 libraries_closed(void) { return 0; }
static __u32 graph_nodes_per_s(void) { return UINT32_MAX; }

static const struct mlrun_producer producer = {.version = MLRUN_PRODUCER_VERSION,
                                               .streams = streams,
                                               .clock = ticks,
                                               .monotonic_ns = monotonic_ns,
                                               .reserve = reserve,
                                               .string_id = string_id,
                                               .function = function,
                                               .function_of_libc = function,
                                               .may_call_kernel = may_call_kernel,
                                               .libraries_closed = libraries_closed,
                                               .graph_nodes_per_s = graph_nodes_per_s};
const struct mlrun_producer *mlrun_producer(void);
const struct mlrun_producer *mlrun_producer(void) { return &producer; }

static void *add(CUpti_ActivityKind kind, size_t bytes) {
  void *record = buffer + filled;
  filled += bytes;
  *(CUpti_ActivityKind *)record = kind;
  return record;
}
// What the product frees: its call of free comes here (--wrap).
enum { kFreedMax = 64 };
static void *freed[kFreedMax];
static int frees;
void __real_free(void *block);
void __wrap_free(void *block);
void __wrap_free(void *block) {
  if (frees < kFreedMax) freed[frees++] = block;
  __real_free(block);
}

static void *details[kFreedMax];
static int given;
#define ADD(type, kind) ((type *)add(CUPTI_ACTIVITY_KIND_##kind, sizeof(type)))

static void fill(uint64_t start, uint32_t round) {
  CUpti_ActivityAPI *api = ADD(CUpti_ActivityAPI, RUNTIME);
  *api = (CUpti_ActivityAPI){api->kind, 211, start, start + 10, 1, 4242, round, 0};
  CUpti_ActivityAPI *inner = ADD(CUpti_ActivityAPI, DRIVER);
  *inner = (CUpti_ActivityAPI){inner->kind, 307, start + 2, start + 8, 1, 4242, round, 0};
  kernel_now *kernel = ADD(kernel_now, CONCURRENT_KERNEL);
  kernel->start = start + 20, kernel->end = start + 30, kernel->name = "_Z1kv", kernel->correlationId = round;
  kernel->deviceId = 1, kernel->streamId = 7, kernel->gridX = 64, kernel->blockZ = 3, kernel->graphId = 9;
  memcpy_now *copy = ADD(memcpy_now, MEMCPY);
  copy->start = start + 40, copy->end = start + 50, copy->bytes = 4096, copy->correlationId = round;
  CUpti_ActivityMemcpyPtoP4 *peer = ADD(CUpti_ActivityMemcpyPtoP4, MEMCPY2);
  peer->start = start + 60, peer->end = start + 70, peer->dstDeviceId = 2, peer->correlationId = round;
  memset_now *set = ADD(memset_now, MEMSET);
  set->start = start + 80, set->end = start + 90, set->value = 7, set->correlationId = round;
  CUpti_ActivitySynchronization2 *sync = ADD(CUpti_ActivitySynchronization2, SYNCHRONIZATION);
  sync->start = start + 100, sync->end = start + 110, sync->correlationId = round;
  CUpti_ActivityOverhead3 *overhead = ADD(CUpti_ActivityOverhead3, OVERHEAD);
  overhead->start = start + 120, overhead->end = start + 130;
  overhead->overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  if (round != 1)
    overhead->overheadData = details[given++] = malloc(sizeof(CUpti_ActivityOverheadCommandBufferFullData));
  CUpti_ActivityMemory4 *memory = ADD(CUpti_ActivityMemory4, MEMORY2);
  memory->timestamp = start + 140, memory->address = 0x7f0000000000, memory->bytes = 1 << 20;
  memory->PC = round == 1 ? 0 : 0x5555000 + round;
  memory->correlationId = round, memory->memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory->memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  memory->memoryPoolConfig.pool.size = 1 << 25;
  CUpti_ActivityGraphTrace2 *graph = ADD(CUpti_ActivityGraphTrace2, GRAPH_TRACE);
  graph->start = start + 150, graph->end = start + 160, graph->graphId = 11, graph->correlationId = round;
  device_now *device = ADD(device_now, DEVICE);
  device->id = round, device->name = "H200";
}

static const __u64 *expect(const __u64 *w, uint32_t kind, uint32_t arg, uint64_t start, uint64_t end) {
  if ((w[0] >> 16 & 0xffff) != kind || w[0] >> 32 != arg || (start && (w[2] >> 8 != start || w[3] != end))) {
    fprintf(stderr, "record %llx of %llu to %llu, wanted kind %x of %u, %lu to %lu\n", w[0], w[2] >> 8, w[3], kind, arg,
            start, end);
    exit(1);
  }
  return w + (w[0] >> 8 & 0xff) * 2;
}

static void check(uint64_t start) {
  const __u64 *w = words;
  for (uint32_t round = 1; round <= kRounds; round++) {
    if (w[4] >> 56 != MLRUN_GPU_RUNTIME) exit(7);
    w = expect(w, MLRUN_GPU_API, round, start, start + 10);
    if (w[4] >> 56 != MLRUN_GPU_DRIVER) exit(8);
    w = expect(w, MLRUN_GPU_API, round, start + 2, start + 8);
    if ((w[7] & 0xffffffff) != 7) exit(2);  // the kernel's stream
    w = expect(w, MLRUN_GPU_KERNEL, round, start + 20, start + 30);
    w = expect(w, MLRUN_GPU_MEMCPY, round, start + 40, start + 50);
    if ((w[8] >> 24 & 0xffff) != 2) exit(3);  // the device copied to
    w = expect(w, MLRUN_GPU_MEMCPY, round, start + 60, start + 70);
    w = expect(w, MLRUN_GPU_MEMSET, round, start + 80, start + 90);
    w = expect(w, MLRUN_GPU_SYNC, round, start + 100, start + 110);
    w = expect(w, MLRUN_GPU_NOTE, MLRUN_GPU_OVERHEAD, 0, 0);
    if (w[9] != 0x7f0000000000 || w[8] >> 8 != 1 << 25) exit(5);  // its address, the size of its pool
    if (round == 1 ? (w[0] >> 8 & 0xff) != 6 : w[13] != 0x5555000 + round) exit(16);  // the allocating call, if known
    w = expect(w, MLRUN_GPU_MEMORY, round, start + 140, start + 140);
    if (w[7] >> 32 != 11) exit(6);  // which graph
    w = expect(w, MLRUN_GPU_GRAPH, round, start + 150, start + 160);
    w = expect(w, MLRUN_GPU_DEVICE, round, 0, 0);
  }
  if (w != words + used) exit(4);  // nothing more, and nothing unread
}

static void add_overhead(CUpti_ActivityOverheadKind kind, void *data) {
  CUpti_ActivityOverhead3 *overhead = ADD(CUpti_ActivityOverhead3, OVERHEAD);
  overhead->overheadKind = kind, overhead->overheadData = data;
}

// CUPTI's client has to free what these records point to: each once, also that of the last record of a buffer, and nothing
// behind a record that CUPTI cannot read.
static void check_details(void) {
  if (frees != given || !given || memcmp(freed, details, (size_t)given * sizeof *freed)) exit(17);
  frees = 0;
  for (int broken = 0; broken < 2; broken++) {
    filled = 0;
    add_overhead(CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, details[broken] = malloc(1));
    if (broken) *(uint32_t *)(buffer + filled) = 9999;  // no kind of any version
    read_records(NULL, 0, buffer, filled + (broken ? 8 : 0));
    if (frees != 1 || freed[0] != details[0]) exit(18);
  }
  may_free = false;
  filled = 0;
  add_overhead(CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, details[0] = malloc(1));
  read_records(NULL, 0, buffer, filled);
  may_free = true;
  if (frees != 1) exit(19);
  filled = 0;
  // Of kinds without data the pointer is not to be looked at.
  add_overhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, buffer + 1);
  add_overhead(CUPTI_ACTIVITY_OVERHEAD_UNKNOWN, buffer + 1);
  read_records(NULL, 0, buffer, filled);
  if (frees != 1) exit(20);
}

static uint8_t *request(void) {
  uint8_t *asked = NULL;
  size_t bytes = 0, most = 1;
  request_buffer(&asked, &bytes, &most);
  if (most || (asked != NULL) != (bytes != 0)) exit(9);
  return asked;
}

// CUPTI gets so many and no more, and one that came back again. An old one, which crashes without, gets one that is not read.
static void exhaust_buffers(void) {
  static uint8_t *given[kBuffersMax];
  session.state = kRunning, session.owner = getpid();
  for (int i = 0; i < kBuffersMax; i++) {
    if (!(given[i] = request()) || *(uint32_t *)given[i]) exit(10);
    *(uint32_t *)given[i] = CUPTI_RUNTIME;  // not to be taken for a record of the next time
    for (int j = 0; j < i; j++)
      if (given[j] == given[i]) exit(11);
  }
  session.version = kCuptiNullBuffer;
  if (request()) exit(12);
  session.version = kCuptiOldest;
  uint8_t *spare = request();
  if (!spare || spare != request()) exit(13);
  used = 0;
  buffer_done(NULL, 0, spare, 1, 64);
  const __u64 *w = expect(words, MLRUN_GPU_NOTE, MLRUN_GPU_UNREAD, 0, 0);
  if (w != words + used || words[3] != 64) exit(14);
  buffer_done(NULL, 0, given[5], 1, 0);
  if (request() != given[5] || *(uint32_t *)given[5]) exit(15);
}

// By the names that NVIDIA's library gives to calls.
static void check_traced_calls(void) {
  static const struct {
    uint32_t domain;
    bool is_traced;
    const char *name;
  } calls[] = {{CUPTI_DOMAIN_RUNTIME, true, "cudaLaunchKernel_v7000"},
               {CUPTI_DOMAIN_RUNTIME, true, "cudaStreamSynchronize_ptsz_v7000"},
               {CUPTI_DOMAIN_RUNTIME, false, "cudaGetDevice_v3020"},
               {CUPTI_DOMAIN_RUNTIME, false, "cudaGetLastError_v3020"},
               {CUPTI_DOMAIN_DRIVER, true, "cuLaunchKernelEx"},
               {CUPTI_DOMAIN_DRIVER, true, "cuGraphLaunch_ptsz"},
               {CUPTI_DOMAIN_DRIVER, true, "cuMemAlloc_v2"},
               {CUPTI_DOMAIN_DRIVER, true, "cuCtxSynchronize"},
               {CUPTI_DOMAIN_DRIVER, true, "cuStreamSynchronize"},
               {CUPTI_DOMAIN_DRIVER, true, "cuEventSynchronize"},
               {CUPTI_DOMAIN_DRIVER, false, "cuCtxGetCurrent"}};
  choose_traced_calls();
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    uint32_t function = 0;
    const char *name = NULL;
    while (++function < 2048 && (session.cupti.callback_name(calls[i].domain, function, &name) != CUPTI_OK || !name ||
                                 strcmp(name, calls[i].name)))
      name = NULL;
    if (name && is_traced_call(calls[i].domain, function) == calls[i].is_traced) continue;
    fprintf(stderr, "%s: %s\n", calls[i].name, name ? "is traced wrongly" : "has no number");
    exit(16);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  setenv("MLRUN_CUPTI", argv[1], 1);
  struct found_cupti found = {0};
  session.producer = &producer;
  if (!find_cupti(&session.cupti, &found)) {
    fprintf(stderr, "%s: %s\n", argv[1], found.tried);
    return 1;
  }
  session.cupti.get_version(&session.version);
  uint64_t start = session.started_ns = now();
  for (uint32_t round = 1; round <= kRounds; round++) fill(start, round);
  read_records(NULL, 0, buffer, filled);
  size_t bytes = filled;
  check(start);
  check_details();
  check_traced_calls();
  exhaust_buffers();
  printf("%s, API %u: %zu bytes read as they were written\n", found.path, session.version, bytes);
  return 0;
}
