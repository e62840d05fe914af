// SPDX-License-Identifier: Apache-2.0
#include "cupti/gpu_record.h"

#include <string.h>

#include "cupti/session.h"
#include "cupti/traced_calls.h"
#include "preload/base/compiler.h"

enum { kWordsPerUnit = 2 };

// A record that is being written. If its string is new, the string's definition is written directly before it.
struct draft {
  __u64 *w;  // null: there was no room, and the record is dropped
  uint8_t lap;
  __u64 text_id, definition_bytes;
};

static struct draft begin_named(uint32_t units, const char *text, size_t bytes) {
  const struct mlrun_producer *to = session.producer;
  struct draft draft = {0};
  __u64 now = to->clock();
  if (!now) return draft;
  if (text) draft.text_id = to->string_id(text, bytes, &draft.definition_bytes);
  draft.w = to->reserve((uint32_t)draft.definition_bytes + units * MLRUN_UNIT_BYTES, &draft.lap);
  if (!draft.w) return draft;
  if (draft.definition_bytes) {
    to->write_string(draft.w, draft.lap, draft.text_id, text, bytes);
    draft.w += draft.definition_bytes / sizeof *draft.w;
  }
  for (uint32_t i = 2; i < units * kWordsPerUnit; i++) draft.w[i] = 0;
  draft.w[1] = now;
  return draft;
}

static struct draft begin(uint32_t units) { return begin_named(units, NULL, 0); }

static void finish(const struct draft *draft, uint32_t units, uint32_t kind, uint32_t arg) {
  compiler_barrier();
  *(volatile __u64 *)draft->w = mlrun_word0(draft->lap, units, kind, arg);
  if (draft->definition_bytes) session.producer->string_written(draft->text_id);
}

static uint64_t low_bits(uint64_t value, unsigned bits) { return value & ((1ull << bits) - 1); }

static void put_times(__u64 *w, struct work_time time, uint32_t device, uint32_t detail) {
  w[2] = time.start_ns << 8;
  w[3] = time.end_ns;
  w[4] = low_bits(device, 16) << 8 | (uint64_t)time.clock << 24 | (uint64_t)detail << 32;
}

static void put_place(__u64 *w, uint32_t context, uint32_t stream, uint32_t graph) {
  w[6] = (uint64_t)context << 8;
  w[7] = stream | (uint64_t)graph << 32;
}

void put_api(const struct cupti_api *api, struct work_time time) {
  bool is_runtime = api->kind == CUPTI_RUNTIME;
  uint32_t cupti_domain = is_runtime ? CUPTI_DOMAIN_RUNTIME : CUPTI_DOMAIN_DRIVER;
  if (!is_traced_call(cupti_domain, api->function)) return;
  size_t bytes;
  const char *name = traced_call_name(cupti_domain, api->function, &bytes);
  struct draft draft = begin_named(4, name, bytes);
  if (!draft.w) return;
  uint32_t domain = is_runtime ? MLRUN_GPU_RUNTIME : MLRUN_GPU_DRIVER;
  put_times(draft.w, time, 0, (uint32_t)low_bits(api->function, 24) | domain << 24);
  draft.w[5] = api->tid | (uint64_t)api->result << 32;
  draft.w[7] = draft.text_id;
  finish(&draft, 4, MLRUN_GPU_API, api->correlation);
}

void put_kernel(const struct cupti_kernel *kernel, struct work_time time) {
  const char *name = kernel->name;
  struct draft draft = begin_named(7, name, name ? strlen(name) : 0);
  __u64 *w = draft.w;
  if (!w) return;
  put_times(w, time, kernel->device, kernel->registers);
  w[5] = kernel->graph_node;
  put_place(w, kernel->context, kernel->stream, kernel->graph);
  w[8] = low_bits((uint32_t)kernel->grid[0], 32) << 8 | low_bits((uint32_t)kernel->block[0], 16) << 40;
  w[9] = (uint32_t)kernel->grid[1] | (uint64_t)(uint32_t)kernel->grid[2] << 32;
  w[10] = low_bits((uint32_t)kernel->block[1], 16) << 8 | low_bits((uint32_t)kernel->block[2], 16) << 24;
  w[11] = draft.text_id;
  w[12] = (uint64_t)(uint32_t)kernel->static_shared << 8;
  w[13] = (uint32_t)kernel->dynamic_shared | (uint64_t)kernel->local_per_thread << 32;
  finish(&draft, 7, MLRUN_GPU_KERNEL, kernel->correlation);
}

static uint32_t copy_detail(uint8_t copy, uint8_t source, uint8_t target, uint8_t flags) {
  return copy | (uint32_t)source << 8 | (uint32_t)target << 16 | (uint32_t)flags << 24;
}

void put_memcpy(const struct cupti_memcpy *copy, struct work_time time) {
  struct draft draft = begin(5);
  __u64 *w = draft.w;
  if (!w) return;
  put_times(w, time, copy->device, copy_detail(copy->copy_kind, copy->source_kind, copy->target_kind, copy->flags));
  w[5] = copy->bytes;
  put_place(w, copy->context, copy->stream, copy->graph);
  w[9] = copy->graph_node;
  finish(&draft, 5, MLRUN_GPU_MEMCPY, copy->correlation);
}

void put_memcpy_peer(const struct cupti_memcpy_peer *copy, struct work_time time) {
  struct draft draft = begin(5);
  __u64 *w = draft.w;
  if (!w) return;
  put_times(w, time, copy->device, copy_detail(copy->copy_kind, copy->source_kind, copy->target_kind, copy->flags));
  w[5] = copy->bytes;
  put_place(w, copy->context, copy->stream, copy->graph);
  w[8] = low_bits(copy->source_device, 16) << 8 | low_bits(copy->target_device, 16) << 24 | 1ull << 40;
  w[9] = copy->graph_node;
  finish(&draft, 5, MLRUN_GPU_MEMCPY, copy->correlation);
}

void put_memset(const struct cupti_memset *set, struct work_time time) {
  struct draft draft = begin(5);
  __u64 *w = draft.w;
  if (!w) return;
  put_times(w, time, set->device, set->memory_kind | (uint32_t)set->flags << 16);
  w[5] = set->bytes;
  put_place(w, set->context, set->stream, set->graph);
  w[8] = (uint64_t)set->value << 8;
  w[9] = set->graph_node;
  finish(&draft, 5, MLRUN_GPU_MEMSET, set->correlation);
}

void put_sync(const struct cupti_sync *sync, struct work_time time) {
  struct draft draft = begin(4);
  __u64 *w = draft.w;
  if (!w) return;
  put_times(w, time, 0, sync->type);
  w[5] = sync->event;
  put_place(w, sync->context, sync->stream, 0);
  finish(&draft, 4, MLRUN_GPU_SYNC, sync->correlation);
}

void put_graph(const struct cupti_graph *graph, struct work_time time) {
  struct draft draft = begin(4);
  if (!draft.w) return;
  put_times(draft.w, time, graph->device, 0);
  draft.w[5] = 0;
  put_place(draft.w, graph->context, graph->stream, graph->graph);
  finish(&draft, 4, MLRUN_GPU_GRAPH, graph->correlation);
}

void put_fold(const struct graph_fold *fold) {
  const struct graph_node *first = &fold->first;
  struct draft draft = begin(4);
  if (!draft.w) return;
  put_times(draft.w, first->time, first->device, fold->nodes);
  draft.w[5] = fold->busy_ns;
  put_place(draft.w, first->context, first->stream, first->graph);
  finish(&draft, 4, MLRUN_GPU_GRAPH, first->correlation);
}

void put_memory(const struct cupti_memory *memory, struct work_time time) {
  uint32_t units = memory->program_counter ? 7 : 6;
  struct draft draft = begin(units);
  __u64 *w = draft.w;
  if (!w) return;
  if (memory->program_counter) w[13] = memory->program_counter;
  uint32_t detail = (memory->operation & 0xff) | (memory->memory_kind & 0xff) << 8 | (memory->pool_kind & 0xff) << 16 |
                    (uint32_t)(memory->is_async != 0) << 24;
  put_times(w, time, memory->device, detail);
  w[5] = memory->bytes;
  put_place(w, memory->context, memory->stream, 0);
  w[8] = low_bits(memory->pool_kind == CUPTI_POOL_LOCAL ? memory->pool_bytes : 0, 56) << 8;
  w[9] = memory->address;
  w[10] = low_bits(memory->pool_kind == CUPTI_POOL_LOCAL ? memory->pool_used : 0, 56) << 8;
  w[11] = memory->pool_address;
  finish(&draft, units, MLRUN_GPU_MEMORY, memory->correlation);
}

void put_device(const struct cupti_device *device) {
  const char *name = device->name;
  struct draft draft = begin_named(7, name, name ? strlen(name) : 0);
  __u64 *w = draft.w;
  if (!w) return;
  w[2] = (uint64_t)device->multiprocessors << 8 | low_bits(device->capability_major << 8 | device->capability_minor, 16)
                                                      << 40;
  w[3] = device->memory_bytes;
  w[4] = (uint64_t)(device->is_mig & 1) << 8;
  memcpy(&w[5], device->uuid, sizeof w[5]);
  memcpy(&w[7], device->uuid + sizeof w[5], sizeof w[7]);
  w[9] = draft.text_id;
  memcpy(&w[11], device->mig_uuid, sizeof w[11]);
  memcpy(&w[13], device->mig_uuid + sizeof w[11], sizeof w[13]);
  finish(&draft, 7, MLRUN_GPU_DEVICE, device->number);
}

struct note {
  uint64_t code, count, first_ns, last_ns;
  const char *text;
};

static void put_note(enum mlrun_gpu_note kind, struct note note) {
  struct draft draft = begin_named(4, note.text, note.text ? strlen(note.text) : 0);
  __u64 *w = draft.w;
  if (!w) return;
  w[2] = note.code << 8;
  w[3] = note.count;
  w[4] = note.first_ns << 8;
  w[5] = note.last_ns;
  w[7] = draft.text_id;
  finish(&draft, 4, MLRUN_GPU_NOTE, (uint32_t)kind);
}

void put_note_text(enum mlrun_gpu_note note, uint64_t code, const char *text) {
  put_note(note, (struct note){.code = code, .last_ns = session.producer->monotonic_ns(), .text = text});
}

void put_note_count(enum mlrun_gpu_note note, uint64_t count) { put_note(note, (struct note){.count = count}); }

void put_note_span(enum mlrun_gpu_note note, uint64_t code, uint64_t first_ns, uint64_t last_ns) {
  put_note(note, (struct note){.code = code, .first_ns = first_ns, .last_ns = last_ns});
}
