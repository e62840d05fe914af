// SPDX-License-Identifier: Apache-2.0
// The recording of GPU work in a process. There is one: it begins when CUDA is initialised and ends with the process.
//
//   kIdle ── InitializeInjection ──▶ kStarting ──▶ kRunning      a forked child has another pid, and does not record
//                                        └───────▶ kOff
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cupti/cupti_abi.h"
#include "runner/events/producer.h"

#pragma GCC visibility push(hidden)

enum session_state { kIdle, kStarting, kRunning, kOff };

struct session {
  uint32_t state;  // enum session_state
  int owner;       // pid of the process in which recording was started
  uint32_t version;
  uint64_t started_ns;
  const struct mlrun_producer *producer;
  struct cupti_functions cupti;
};
extern struct session session;

// The interface of libmlrun_preload.so, which writes all records; null: it is not in this process, or has another
// version.
const struct mlrun_producer *session_producer(void);

// Makes CUPTI use a buffer for each thread. Requires: no kind is switched on, as CUPTI does not document what would
// happen to records.
enum { kOurThreadBuffers = 1 };
void want_thread_buffers(void);

// True: GPU work is recorded in this process. False in a forked child, and once the program has called seccomp.
bool session_is_ours(void);

#pragma GCC visibility pop
