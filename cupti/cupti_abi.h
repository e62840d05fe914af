// SPDX-License-Identifier: Apache-2.0
// Declares the part of CUPTI's interface that we use. So the build needs nothing of CUDA, and one build works with
// CUPTI 12 and 13. CUPTI adds fields to records only at their end: a struct here has the first fields, which all these
// versions share; fields of newer versions are not read. tests/cupti/cupti_abi_test.c compares each field and number
// with NVIDIA's headers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runner/events/cupti_answer.h"

enum {
  kCuptiOldest = 19,         // the oldest supported API version: CUDA 12.0
  kCuptiNullBuffer = 27,     // since 12.9 CUPTI does not crash if it gets no buffer
  kCuptiThreadBuffers = 21,  // since 12.3 it can use a buffer for each thread
};

enum cupti_kind {
  CUPTI_MEMCPY = 1,
  CUPTI_MEMSET = 2,
  CUPTI_DRIVER = 4,
  CUPTI_RUNTIME = 5,
  CUPTI_DEVICE = 8,
  CUPTI_CONCURRENT_KERNEL = 10,
  CUPTI_OVERHEAD = 17,
  CUPTI_MEMCPY2 = 22,
  CUPTI_SYNCHRONIZATION = 38,
  CUPTI_MEMORY2 = 49,
  CUPTI_GRAPH_TRACE = 51
};

enum cupti_attribute {
  CUPTI_ATTR_DEVICE_BUFFER_SIZE = 0,
  CUPTI_ATTR_DEVICE_BUFFER_LIMIT = 2,
  CUPTI_ATTR_DEVICE_BUFFERS_BEFORE = 6,
  CUPTI_ATTR_PER_THREAD_BUFFER = 9
};

enum cupti_other_number {
  CUPTI_THREAD_ID_SYSTEM = 1,
  CUPTI_FLUSH_FORCED = 1,
  CUPTI_POOL_LOCAL = 1,
  CUPTI_DOMAIN_DRIVER = 1,
  CUPTI_DOMAIN_RUNTIME = 2
};

typedef int (*cupti_call)(void);
typedef void (*cupti_request_buffer)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*cupti_buffer_done)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);
typedef uint64_t (*cupti_timestamp)(void);

// Records. The first word of each is `kind` (enum cupti_kind).
struct cupti_api {
  uint32_t kind, function;
  uint64_t start, end;
  uint32_t pid, tid, correlation, result;
} __attribute__((packed));

struct cupti_kernel {
  uint32_t kind;
  uint8_t cache_config, shared_config;
  uint16_t registers;
  uint32_t partitioned_requested, partitioned_executed;
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared, dynamic_shared;
  uint32_t local_per_thread, local_total;
  uint32_t correlation;
  int64_t grid_id;
  const char *name;
  void *reserved;
  uint64_t queued, submitted;
  uint8_t launch_type, carveout_requested, carveout, padding;
  uint32_t shared_executed;
  uint64_t graph_node;
  uint32_t shared_limit_config;
  uint32_t graph;
} __attribute__((packed));

struct cupti_memcpy {
  uint32_t kind;
  uint8_t copy_kind, source_kind, target_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation, runtime_correlation, padding;
  void *reserved;
  uint64_t graph_node;
  uint32_t graph;
} __attribute__((packed));

struct cupti_memcpy_peer {
  uint32_t kind;
  uint8_t copy_kind, source_kind, target_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream;
  uint32_t source_device, source_context, target_device, target_context;
  uint32_t correlation;
  void *reserved;
  uint64_t graph_node;
  uint32_t graph;
} __attribute__((packed));

struct cupti_memset {
  uint32_t kind, value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint16_t flags, memory_kind;
  uint32_t padding;
  void *reserved;
  uint64_t graph_node;
  uint32_t graph;
} __attribute__((packed));

struct cupti_sync {
  uint32_t kind, type;
  uint64_t start, end;
  uint32_t correlation, context, stream, event;
} __attribute__((packed));

struct cupti_graph {
  uint32_t kind, correlation;
  uint64_t start, end;
  uint32_t device, graph, context, stream;
} __attribute__((packed));

struct cupti_memory {
  uint32_t kind, operation, memory_kind, correlation;
  uint64_t address, bytes, timestamp, program_counter;
  uint32_t pid, device, context, stream;
  const char *name;
  uint32_t is_async, padding;
  uint32_t pool_kind, pool_padding;
  uint64_t pool_address, pool_threshold;
  uint64_t pool_bytes;  // for an imported pool: the id of the process that made it
  uint64_t pool_used;
} __attribute__((packed));

struct cupti_overhead {
  uint32_t kind, overhead_kind, object_kind;
  uint32_t object[3];
  uint64_t start, end;
} __attribute__((packed));

// An overhead record of newer versions; check the record's length before reading `data`. NVIDIA does not document which
// version was the first.
struct cupti_overhead_with_data {
  struct cupti_overhead overhead;
  uint32_t correlation, reserved;
  void *data;  // the client must free() it; null: there is none
} __attribute__((packed));
enum { CUPTI_OVERHEAD_COMMAND_BUFFER_FULL = 6 << 16 };  // the only kind of overhead with data, by CUPTI's headers

struct cupti_device {
  uint32_t kind, flags;
  uint64_t memory_bandwidth, memory_bytes;
  uint32_t constant_bytes, l2_bytes, warp_threads, clock_khz, copy_engines, multiprocessors;
  uint32_t limits[14];
  uint32_t capability_major, capability_minor, number, ecc;
  uint8_t uuid[16];
  const char *name;
  uint8_t is_visible, is_mig, reserved[6];
  uint32_t gpu_instance, compute_instance;
  uint8_t mig_uuid[16];
} __attribute__((packed));

// Functions of libcupti. The last four are null if the loaded libcupti lacks them.
struct cupti_functions {
  int (*get_version)(uint32_t *version);
  int (*subscribe)(void **subscriber, void (*callback)(void *, uint32_t, uint32_t, const void *), void *data);
  int (*unsubscribe)(void *subscriber);
  int (*register_callbacks)(cupti_request_buffer request, cupti_buffer_done done);
  int (*enable)(uint32_t kind);
  int (*disable)(uint32_t kind);
  int (*next_record)(uint8_t *buffer, size_t valid_bytes, void **record);
  int (*flush_all)(uint32_t flag);
  int (*set_attribute)(uint32_t attribute, size_t *value_bytes, void *value);
  int (*dropped_records)(void *context, uint32_t stream, size_t *dropped);
  int (*set_thread_id_type)(uint32_t type);
  int (*register_timestamp)(cupti_timestamp callback);
  int (*callback_name)(uint32_t domain, uint32_t function, const char **name);
  int (*enable_driver_call)(uint32_t function, uint8_t enable);   // since 12.5
  int (*enable_runtime_call)(uint32_t function, uint8_t enable);  // since 12.5
  int (*enable_all_syncs)(uint8_t enable);                        // since 12.8
  int (*enable_and_dump)(uint32_t kind);
};
