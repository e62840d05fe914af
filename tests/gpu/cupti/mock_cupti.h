// SPDX-License-Identifier: Apache-2.0
// Interface of the mock libcupti for the mock libcuda: emits the records that CUDA's work would leave.
#pragma once

#include <stdint.h>

// Programs in Python (g4*) have the first members of it, and zeros for the others.
struct mock_work {
  const char *kernel;  // a launch of this kernel; null: a copy from the host, a memset and a synchronisation
  uint64_t bytes;      // of the copy and the memset
  int is_driver_call;  // the program calls the driver itself
  uint32_t device, stream;
  uint64_t length_ns;  // of the kernel; 0: 1000
  uint32_t has_ended;  // the kernel ends now, and does not begin now
  uint32_t memory;     // CUPTI's operation: 1 an allocation of `bytes` at `address`, 2 its release
  uint32_t memory_kind;
  uint64_t address, pool;  // pool: its address; 0: none
  uint32_t graph;          // a launch of this graph: two kernels and a copy, or itself as a whole
  uint32_t nodes;          // instead: so many kernels
  uint64_t site;           // of an allocation: CUPTI's program counter
  uint32_t is_twin;        // a second launch of the graph, whose nodes come in turn with those of the first, last first
  uint32_t copy;           // CUPTI's kind: a copy alone, of `bytes`, to (1) or from (2) the device
  uint32_t host_memory;    // CUPTI's kind of its memory on the host
};

typedef void (*mock_do)(const struct mock_work *work);

// Mock libcupti: whether a kind of record is enabled.
typedef int (*mock_is_on)(uint32_t kind);
// How often everything was fetched.
typedef int (*mock_flushes)(void);

// What the profiler saw in a session.
struct profile {
  int kernels, calls, others;  // others: of kinds that it did not ask for
};
