// SPDX-License-Identifier: Apache-2.0
// The only recording of GPU work in a process: begins when CUDA starts, ends with the process.
//
//   kIdle ── InitializeInjection ──▶ kStarting ──▶ kRunning      a forked child stays out of it: another pid
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
  int owner;       // pid of the process that CUPTI was started in
  uint32_t version;
  uint64_t started_ns;
  const struct mlrun_producer *producer;
  struct cupti_functions cupti;
};
extern struct session session;

// Writes all records; null: mlrun is not in this process.
const struct mlrun_producer *session_producer(void);

// Each thread has a buffer of its own. Only while no kind is on: CUPTI does not say what happens to records otherwise.
enum { kOurThreadBuffers = 1 };
void want_thread_buffers(void);

// CUPTI runs, and in this process: not in a forked child.
bool session_is_ours(void);

#pragma GCC visibility pop
