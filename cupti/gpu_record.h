// SPDX-License-Identifier: Apache-2.0
// Writes the session's records about GPU work (runner/events/record.h).
#pragma once

#include <stdint.h>

#include "cupti/cupti_abi.h"
#include "cupti/graph_fold.h"
#include "cupti/work_time.h"
#include "runner/events/record.h"

#pragma GCC visibility push(hidden)

void put_api(const struct cupti_api *api, struct work_time time);
void put_kernel(const struct cupti_kernel *kernel, struct work_time time);
void put_memcpy(const struct cupti_memcpy *copy, struct work_time time);
void put_memcpy_peer(const struct cupti_memcpy_peer *copy, struct work_time time);
void put_memset(const struct cupti_memset *set, struct work_time time);
void put_sync(const struct cupti_sync *sync, struct work_time time);
void put_graph(const struct cupti_graph *graph, struct work_time time);
// Writes the record of a graph launch whose nodes were folded (graph_fold.h).
void put_fold(const struct graph_fold *fold);
void put_memory(const struct cupti_memory *memory, struct work_time time);
void put_device(const struct cupti_device *device);

void put_note_text(enum mlrun_gpu_note note, uint64_t code, const char *text);
void put_note_count(enum mlrun_gpu_note note, uint64_t count);
void put_note_span(enum mlrun_gpu_note note, uint64_t code, uint64_t first_ns, uint64_t last_ns);

#pragma GCC visibility pop
