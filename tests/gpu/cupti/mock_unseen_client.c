// SPDX-License-Identifier: Apache-2.0
// A client of CUPTI that takes its functions by dlsym, as XLA and Triton's Proton do, and so bypasses functions of the
// same names that are preloaded before CUPTI's. MOCK_CUPTI_PAST: "free": it frees each buffer that it has read; else it
// keeps it.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/cupti_abi.h"
#include "mock_cupti.h"

enum { kBytes = 1 << 16 };

static void *cupti;
static struct profile counts;

__attribute__((constructor)) static void load(void) { cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL); }

#define CALL(name, parameters, ...) ((int(*) parameters)dlsym(cupti, "cuptiActivity" name))(__VA_ARGS__)

static void request(uint8_t **buffer, size_t *bytes, size_t *most) {
  *buffer = malloc(*bytes = kBytes);
  memset(*buffer, 0xee, kBytes);
  *most = 0;
}

static void done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes) {
  void *record = NULL;
  (void)context, (void)stream, (void)bytes;
  while (CALL("GetNextRecord", (uint8_t *, size_t, void **), buffer, valid_bytes, &record) == CUPTI_OK)
    counts.kernels += *(uint32_t *)record == CUPTI_CONCURRENT_KERNEL;
  const char *past = getenv("MOCK_CUPTI_PAST");
  if (past && !strcmp(past, "free")) free(buffer);
}

void profiler_begin(void) {
  CALL("RegisterCallbacks", (cupti_request_buffer, cupti_buffer_done), request, done);
  CALL("Enable", (uint32_t), CUPTI_CONCURRENT_KERNEL);
}

struct profile profiler_end(void) {
  CALL("FlushAll", (uint32_t), CUPTI_FLUSH_FORCED);
  return counts;
}
