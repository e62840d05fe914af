// SPDX-License-Identifier: Apache-2.0
#include "cupti/record_reader.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/gpu_record.h"
#include "cupti/graph_fold.h"
#include "cupti/session.h"
#include "cupti/work_time.h"

static uint64_t read_count;
static bool has_work, has_device;  // a record of work, or of a device, has come

uint64_t records_read(void) { return __atomic_load_n(&read_count, __ATOMIC_RELAXED); }

bool device_is_missing(void) {
  return __atomic_load_n(&has_work, __ATOMIC_RELAXED) && !__atomic_load_n(&has_device, __ATOMIC_RELAXED);
}

void count_unread(size_t bytes) {
  if (bytes) put_note_count(MLRUN_GPU_UNREAD, bytes);
}

static struct work_time time_of(const struct clock_view *clock, uint64_t start, uint64_t end) {
  return settle_work_time(clock, start, end);
}

// True: the work is a node of a graph, and was added to a fold (graph_fold.h).
static bool is_folded(struct graph_node node) { return node.graph && fold_graph_node(&node); }

static bool begins_with(const char *text, const char *prefix) { return !strncmp(text, prefix, strlen(prefix)); }

// Whether it is a kernel of NCCL. The name is mangled: _Z39ncclDevKernel_…
static bool is_communication(const struct cupti_kernel *kernel) {
  const char *name = kernel->name;
  if (!name) return false;
  if (begins_with(name, "_Z"))
    for (name += 2; *name >= '0' && *name <= '9';) name++;
  return begins_with(name, "ncclDevKernel") || begins_with(name, "ncclKernel") ||
         begins_with(name, "ncclSymDevKernel") || begins_with(name, "ncclSymkDevKernel");
}

static void note_device(uint32_t kind) {
  bool is_work =
      kind == CUPTI_CONCURRENT_KERNEL || kind == CUPTI_MEMCPY || kind == CUPTI_MEMSET || kind == CUPTI_GRAPH_TRACE;
  if (is_work) __atomic_store_n(&has_work, true, __ATOMIC_RELAXED);
  if (kind == CUPTI_DEVICE) __atomic_store_n(&has_device, true, __ATOMIC_RELAXED);
}

static void read_kernel(const struct clock_view *clock, const struct cupti_kernel *kernel) {
  struct work_time time = time_of(clock, kernel->start, kernel->end);
  struct graph_node node = {kernel->graph, kernel->correlation, kernel->device, kernel->context, kernel->stream, time};
  if (is_communication(kernel) || !is_folded(node)) put_kernel(kernel, time);
}

static void read_memcpy(const struct clock_view *clock, const struct cupti_memcpy *copy) {
  struct work_time time = time_of(clock, copy->start, copy->end);
  struct graph_node node = {copy->graph, copy->correlation, copy->device, copy->context, copy->stream, time};
  if (!is_folded(node)) put_memcpy(copy, time);
}

static void read_memcpy_peer(const struct clock_view *clock, const struct cupti_memcpy_peer *copy) {
  struct work_time time = time_of(clock, copy->start, copy->end);
  struct graph_node node = {copy->graph, copy->correlation, copy->device, copy->context, copy->stream, time};
  if (!is_folded(node)) put_memcpy_peer(copy, time);
}

static void read_memset(const struct clock_view *clock, const struct cupti_memset *set) {
  struct work_time time = time_of(clock, set->start, set->end);
  struct graph_node node = {set->graph, set->correlation, set->device, set->context, set->stream, time};
  if (!is_folded(node)) put_memset(set, time);
}

// Writes the record. Ignores kinds that we did not switch on: another client of CUPTI may have.
static void put_record(const struct clock_view *clock, const void *record) {
  switch (*(const uint32_t *)record) {
    case CUPTI_DRIVER:
    case CUPTI_RUNTIME: {
      const struct cupti_api *api = record;
      put_api(api, time_of(clock, api->start, api->end));
      return;
    }
    case CUPTI_CONCURRENT_KERNEL: read_kernel(clock, record); return;
    case CUPTI_MEMCPY: read_memcpy(clock, record); return;
    case CUPTI_MEMCPY2: read_memcpy_peer(clock, record); return;
    case CUPTI_MEMSET: read_memset(clock, record); return;
    case CUPTI_SYNCHRONIZATION: {
      const struct cupti_sync *sync = record;
      put_sync(sync, time_of(clock, sync->start, sync->end));
      return;
    }
    case CUPTI_GRAPH_TRACE: {
      const struct cupti_graph *graph = record;
      put_graph(graph, time_of(clock, graph->start, graph->end));
      return;
    }
    case CUPTI_MEMORY2: {
      const struct cupti_memory *memory = record;
      put_memory(memory, time_of(clock, memory->timestamp, memory->timestamp));
      return;
    }
    case CUPTI_OVERHEAD: {
      const struct cupti_overhead *overhead = record;
      struct work_time time = time_of(clock, overhead->start, overhead->end);
      put_note_span(MLRUN_GPU_OVERHEAD, overhead->overhead_kind, time.start_ns, time.end_ns);
      return;
    }
    case CUPTI_DEVICE: put_device(record); return;
  }
}

// Frees the data that an overhead record points to: CUPTI leaves that to its client. CUPTI allocated it with `malloc`
// of the global scope; this library's `free` is of the same scope, and a library that replaces one replaces both. In
// other kinds of overhead the pointer is not read: the headers do not say that it is null there, and freeing a wrong
// pointer would end the program. Under a seccomp filter, which system calls of the allocator might violate, nothing is
// freed.
static void free_data(const void *record, size_t bytes) {
  const struct cupti_overhead_with_data *last = record;
  if (*(const uint32_t *)record != CUPTI_OVERHEAD || bytes < sizeof *last) return;
  if (last->overhead.overhead_kind != CUPTI_OVERHEAD_COMMAND_BUFFER_FULL || !last->data) return;
  if (session.producer->may_call_kernel()) free(last->data);
}

static void count_dropped(void *context, uint32_t stream) {
  size_t dropped = 0;
  if (session.cupti.dropped_records(context, stream, &dropped) == CUPTI_OK && dropped)
    put_note_count(MLRUN_GPU_DROPPED, dropped);
}

// A record's length is the distance to the next one. If reading fails, the last readable record has no known length.
void read_records(void *context, uint32_t stream, uint8_t *buffer, size_t valid_bytes) {
  const struct clock_view clock = read_clocks();
  void *record = NULL, *last = NULL;
  uint64_t records = 0;
  int answer = CUPTI_MAX_LIMIT_REACHED;
  while (valid_bytes && (answer = session.cupti.next_record(buffer, valid_bytes, &record)) == CUPTI_OK) {
    if (last) free_data(last, (size_t)((uint8_t *)record - (uint8_t *)last));
    note_device(*(const uint32_t *)record);
    put_record(&clock, record);
    last = record;
    records++;
  }
  if (answer != CUPTI_MAX_LIMIT_REACHED)
    count_unread(valid_bytes - (record ? (size_t)((uint8_t *)record - buffer) : 0));
  else if (last)
    free_data(last, (size_t)(buffer + valid_bytes - (uint8_t *)last));
  __atomic_add_fetch(&read_count, records, __ATOMIC_RELAXED);
  count_dropped(context, stream);
}
