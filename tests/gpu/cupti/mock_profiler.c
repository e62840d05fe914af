// SPDX-License-Identifier: Apache-2.0
// A profiler in the program, linked with CUPTI and in the order of PyTorch's: it gives CUPTI its own clock, registers its
// callbacks at each session, switches three kinds on, off again, and then fetches its records. Its buffers come as they
// are, and one that it did not give is a fault.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cupti/cupti_abi.h"
#include "mock_cupti.h"

int cuptiActivityRegisterCallbacks(cupti_request_buffer request, cupti_buffer_done done);
int cuptiActivityRegisterTimestampCallback(cupti_timestamp callback);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value);
int cuptiFinalize(void);

enum { kBytes = 1 << 16, kBuffersMax = 4096 };

static const uint32_t kinds[] = {CUPTI_MEMCPY, CUPTI_CONCURRENT_KERNEL, CUPTI_RUNTIME};
static struct profile counts;
static uint8_t *given[kBuffersMax];

// Ticks of three to the nanosecond.
static uint64_t ticks(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return ((uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec) * 3 + 12345;
}

static void request(uint8_t **buffer, size_t *bytes, size_t *most) {
  int i = 0;
  while (given[i])
    if (++i == kBuffersMax) abort();
  *buffer = given[i] = malloc(kBytes);
  memset(*buffer, 0xee, kBytes);
  *bytes = kBytes;
  *most = 0;
}

static void done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes) {
  void *record = NULL;
  (void)context, (void)stream, (void)bytes;
  int i = 0;
  while (given[i] != buffer)
    if (++i == kBuffersMax) abort();
  given[i] = NULL;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_OK) {
    uint32_t kind = *(uint32_t *)record;
    counts.kernels += kind == CUPTI_CONCURRENT_KERNEL;
    counts.calls += kind == CUPTI_RUNTIME;
    counts.others += kind != CUPTI_CONCURRENT_KERNEL && kind != CUPTI_RUNTIME && kind != CUPTI_MEMCPY;
  }
  free(buffer);
}

// PyTorch's profiler begins with the one, where it is asked to, and ends with the other.
static void set_thread_buffers(uint8_t wanted) {
  size_t bytes = sizeof wanted;
  cuptiActivitySetAttribute(CUPTI_ATTR_PER_THREAD_BUFFER, &bytes, &wanted);
}

void profiler_begin(void) {
  counts = (struct profile){0};
  cuptiActivityRegisterTimestampCallback(ticks);
  set_thread_buffers(1);
  cuptiActivityRegisterCallbacks(request, done);
  for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) cuptiActivityEnable(kinds[i]);
}

static void switch_off(void) {
  for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) cuptiActivityDisable(kinds[i]);
}

struct profile profiler_end(void) {
  switch_off();
  cuptiActivityFlushAll(getenv("MOCK_CUPTI_KEEPS") ? 0 : CUPTI_FLUSH_FORCED);
  set_thread_buffers(0);
  return counts;
}

// Without fetching anything, as PyTorch's does when none of its buffers is out.
struct profile profiler_leave(void) {
  switch_off();
  return counts;
}
struct profile profiler_counts(void) {
  return counts;
}

// A session without new callbacks, whose first call is one that CUPTI may not meet while kinds are on.
void profiler_begin_again(void) {
  counts = (struct profile){0};
  set_thread_buffers(0);
  for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) cuptiActivityEnable(kinds[i]);
}

void profiler_finalize(void) { cuptiFinalize(); }
