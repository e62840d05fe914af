// SPDX-License-Identifier: Apache-2.0
// Mock libcupti: the records that CUDA's work leaves, with known values.
#define _GNU_SOURCE
#include "mock_work.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cupti/cupti_abi.h"

static void put_times(uint64_t *start, uint64_t *end, uint64_t length) {
  const char *wrong = setting("MOCK_CUPTI_CLOCK");
  *start = now();
  *end = *start + length;
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  uint64_t realtime = (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
  if (!strcmp(wrong, "zero")) *start = *end = 0;
  if (!strcmp(wrong, "inverted")) *end = *start - 100;
  if (!strcmp(wrong, "realtime")) *start = realtime, *end = realtime + length;
  if (!strcmp(wrong, "future")) *start += 3600000000000ull, *end += 3600000000000ull;
  if (!strcmp(wrong, "unfinished")) *end = 0;
  if (!strcmp(wrong, "wrapped")) *start = (uint32_t)*start, *end = (uint32_t)*end;
  if (!strcmp(wrong, "wrapped_end")) *end -= 1ull << 32;
}

static struct cupti_kernel *add_kernel(const struct mock_work *work, uint32_t correlation) {
  struct cupti_kernel *kernel = add_work(CUPTI_CONCURRENT_KERNEL);
  if (!kernel) return NULL;
  uint64_t start, end;
  put_times(&start, &end, work->length_ns ? work->length_ns : 1000);
  if (work->has_ended) start -= work->length_ns, end -= work->length_ns;
  kernel->start = start;
  kernel->end = end;
  kernel->device = work->device;
  kernel->context = 1;
  kernel->stream = work->stream;
  kernel->grid[0] = 64;
  kernel->grid[1] = kernel->grid[2] = 1;
  kernel->block[0] = 256;
  kernel->block[1] = kernel->block[2] = 1;
  kernel->registers = 32;
  kernel->dynamic_shared = 1024;
  kernel->correlation = correlation;
  kernel->name = work->kernel;
  return kernel;
}

static struct cupti_memcpy *add_copy(const struct mock_work *work, uint32_t correlation) {
  struct cupti_memcpy *copy = add_work(CUPTI_MEMCPY);
  if (!copy) return NULL;
  bool is_to_host = work->copy == 2;
  uint8_t host = work->copy ? (uint8_t)work->host_memory : 2;
  copy->copy_kind = is_to_host ? 2 : 1;
  copy->source_kind = is_to_host ? 3 : host;
  copy->target_kind = is_to_host ? host : 3;
  copy->flags = 1;
  copy->bytes = work->bytes;
  copy->start = now();
  copy->end = now() + 500;
  copy->device = work->device;
  copy->context = 1;
  copy->stream = work->stream;
  copy->correlation = correlation;
  return copy;
}

static void add_set(const struct mock_work *work, uint32_t correlation) {
  struct cupti_memset *set = add_work(CUPTI_MEMSET);
  if (!set) return;
  set->value = 7;
  set->bytes = work->bytes;
  set->start = now();
  set->end = now() + 200;
  set->device = work->device;
  set->context = 1;
  set->stream = work->stream;
  set->memory_kind = 3;
  set->correlation = correlation;
}

static void add_sync(const struct mock_work *work, uint32_t correlation, uint64_t start) {
  struct cupti_sync *sync = add_work(CUPTI_SYNCHRONIZATION);
  if (!sync) return;
  sync->type = 3;
  sync->start = start;
  sync->end = now();
  sync->context = 1;
  sync->stream = work->stream;
  sync->correlation = correlation;
}

static void add_memory(const struct mock_work *work, uint32_t correlation) {
  struct cupti_memory *memory = add_work(CUPTI_MEMORY2);
  if (!memory) return;
  memory->operation = work->memory;
  memory->memory_kind = work->memory_kind;
  memory->correlation = correlation;
  memory->address = work->address;
  memory->bytes = work->bytes;
  memory->timestamp = now();
  memory->program_counter = work->site;
  memory->pid = (uint32_t)getpid();
  memory->device = work->device;
  memory->context = 1;
  memory->is_async = work->pool != 0;
  memory->stream = work->pool ? work->stream : UINT32_MAX;
  if (!work->pool) return;
  memory->pool_kind = CUPTI_POOL_LOCAL;
  memory->pool_address = work->pool;
  memory->pool_bytes = 32 << 20;
  memory->pool_used = work->memory == 1 ? work->bytes : 0;
}

static void add_nodes(const struct mock_work *work, uint32_t first) {
  uint32_t twin = work->is_twin ? add_calls(work, 311, 514) : first;
  for (uint32_t node = work->nodes; node; node--)
    for (int i = 0; i <= (work->is_twin != 0); i++) {
      struct cupti_kernel *kernel = add_kernel(work, i ? twin : first);
      if (!kernel) return;
      kernel->graph = work->graph;
      kernel->graph_node = (uint64_t)work->graph << 32 | node;
    }
}

static void add_graph(const struct mock_work *work, uint32_t correlation) {
  if (is_on(CUPTI_GRAPH_TRACE)) {
    struct cupti_graph *graph = add_work(CUPTI_GRAPH_TRACE);
    if (!graph) return;
    graph->correlation = correlation;
    graph->start = now();
    graph->end = graph->start + 5000;
    graph->device = work->device;
    graph->graph = work->graph;
    graph->context = 1;
    graph->stream = work->stream;
    return;
  }
  if (work->nodes) {
    add_nodes(work, correlation);
    return;
  }
  struct cupti_kernel *kernel;
  for (uint64_t node = 1; node <= 2 && (kernel = add_kernel(work, correlation)); node++) {
    kernel->graph = work->graph;
    kernel->graph_node = (uint64_t)work->graph << 32 | node;
  }
  struct cupti_memcpy *copy = add_copy(work, correlation);
  if (!copy) return;
  copy->graph = work->graph;
  copy->graph_node = (uint64_t)work->graph << 32 | 3;
}

void add_records(const struct mock_work *work) {
  if (work->graph) {
    add_graph(work, add_calls(work, 311, 514));
  } else if (work->copy) {
    add_copy(work, add_calls(work, 41, 0));
  } else if (work->memory) {
    add_memory(work, work->memory == 1 ? add_calls(work, 20, 243) : add_calls(work, 22, 245));
  } else if (work->kernel) {
    add_kernel(work, add_calls(work, 211, work->is_driver_call ? 652 : 307));
    add_overhead(kCommandBufferFull);
    add_unknown();
  } else {
    add_copy(work, add_calls(work, 41, 0));
    add_set(work, add_calls(work, 51, 0));
    add_calls(work, 17, 0);  // cudaGetDevice
    uint64_t start = now();
    add_sync(work, add_calls(work, 131, 0), start);
  }
}
