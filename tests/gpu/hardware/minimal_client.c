// SPDX-License-Identifier: Apache-2.0
// A client of CUPTI that does as little as one can: what CUPTI itself costs, for comparison. CUDA's driver loads it by
// CUDA_INJECTION64_PATH. MINIMAL_CUPTI: the library; MINIMAL_KINDS: numbers of kinds to record, with commas; a word
// selects the driver's calls whose names begin with it. MINIMAL_BYTES: size of a buffer (1 MiB); MINIMAL_DEVICE_BYTES:
// size of one in the GPU's memory, of which CUPTI then has at most two (default: CUPTI's). Buffers are returned as they
// come. At the end it writes one object of JSON to the file MINIMAL_OUT: records in buffers, by kind, how many CUPTI
// says it dropped, and the size of a GPU buffer that CUPTI was set to use (0: none).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/cupti_abi.h"

enum { kKindsMax = 64, kAlignment = 8, kDefaultBytes = 1 << 20, kFunctionsMax = 2048 };

static void *cupti;
static size_t buffer_bytes = kDefaultBytes, device_buffer_bytes;
static uint64_t records[kKindsMax], dropped, unreadable, buffers;
static int (*next_record)(uint8_t *, size_t, void **);
static int (*dropped_records)(void *, uint32_t, size_t *);

static void request(uint8_t **buffer, size_t *bytes, size_t *most) {
  *buffer = aligned_alloc(kAlignment, buffer_bytes);
  *bytes = *buffer ? buffer_bytes : 0;
  *most = 0;
}

static void done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes) {
  void *record = NULL;
  int answer;
  (void)bytes;
  buffers++;
  while (valid_bytes && (answer = next_record(buffer, valid_bytes, &record)) == CUPTI_OK) {
    uint32_t kind = *(uint32_t *)record;
    if (kind < kKindsMax) records[kind]++;
  }
  if (valid_bytes && answer != CUPTI_MAX_LIMIT_REACHED) unreadable++;
  size_t lost = 0;
  if (dropped_records(context, stream, &lost) == CUPTI_OK) dropped += lost;
  free(buffer);
}

static void tell(void) {
  int (*flush)(uint32_t) = (int (*)(uint32_t))dlsym(cupti, "cuptiActivityFlushAll");
  if (flush) flush(CUPTI_FLUSH_FORCED);
  const char *path = getenv("MINIMAL_OUT");
  FILE *out = path ? fopen(path, "we") : NULL;
  if (!out) return;
  fprintf(out,
          "{\"buffers\": %" PRIu64 ", \"dropped\": %" PRIu64 ", \"unreadable\": %" PRIu64 ", \"device_bytes\": %zu",
          buffers, dropped, unreadable, device_buffer_bytes);
  for (int kind = 0; kind < kKindsMax; kind++)
    if (records[kind]) fprintf(out, ", \"%d\": %" PRIu64, kind, records[kind]);
  fprintf(out, "}\n");
  fclose(out);
}

// Enables the driver calls whose names begin with `prefix`; a CUPTI that cannot select them records all calls.
static int enable_driver_calls(int (*enable)(uint32_t), const char *prefix) {
  int (*name_of)(uint32_t, uint32_t, const char **) =
      (int (*)(uint32_t, uint32_t, const char **))dlsym(cupti, "cuptiGetCallbackName");
  int (*enable_call)(uint32_t, uint8_t) = (int (*)(uint32_t, uint8_t))dlsym(cupti, "cuptiActivityEnableDriverApi");
  if (!enable_call) return enable(CUPTI_DRIVER);
  for (uint32_t function = 1; function < kFunctionsMax; function++) {
    const char *name = NULL;
    if (name_of(CUPTI_DOMAIN_DRIVER, function, &name) != CUPTI_OK || !name) continue;
    if (!strncmp(name, prefix, strlen(prefix))) enable_call(function, 1);
  }
  return CUPTI_OK;
}

static int enable_kinds(char *kinds) {
  int (*enable)(uint32_t) = (int (*)(uint32_t))dlsym(cupti, "cuptiActivityEnable");
  char *rest = NULL;
  for (char *word = strtok_r(kinds, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    uint32_t kind = (uint32_t)atoi(word);
    int answer = kind ? enable(kind) : enable_driver_calls(enable, word);
    if (answer == CUPTI_OK) continue;
    fprintf(stderr, "minimal client: %s: error %d\n", word, answer);
    return answer;
  }
  return CUPTI_OK;
}

// Records of kernels wait there until CUPTI fetches them. It makes fewer of them beforehand (3 by itself) than it may have.
static void limit_device_buffers(size_t bytes) {
  int (*set)(uint32_t, size_t *, void *) =
      (int (*)(uint32_t, size_t *, void *))dlsym(cupti, "cuptiActivitySetAttribute");
  size_t limit = 2, before = 1, size = sizeof bytes;
  int answers[] = {set(CUPTI_ATTR_DEVICE_BUFFER_SIZE, &size, &bytes),
                   set(CUPTI_ATTR_DEVICE_BUFFERS_BEFORE, &size, &before),
                   set(CUPTI_ATTR_DEVICE_BUFFER_LIMIT, &size, &limit)};
  if (answers[0] || answers[1] || answers[2])
    fprintf(stderr, "minimal client: buffers of the GPU: errors %d, %d, %d\n", answers[0], answers[1], answers[2]);
  else
    device_buffer_bytes = bytes;
}

int InitializeInjection(void) {
  const char *path = getenv("MINIMAL_CUPTI"), *bytes = getenv("MINIMAL_BYTES"), *kinds = getenv("MINIMAL_KINDS");
  cupti = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!cupti) {
    fprintf(stderr, "minimal client: %s\n", path ? dlerror() : "MINIMAL_CUPTI is not set");
    return 1;
  }
  if (bytes) buffer_bytes = (size_t)atol(bytes);
  next_record = (int (*)(uint8_t *, size_t, void **))dlsym(cupti, "cuptiActivityGetNextRecord");
  dropped_records = (int (*)(void *, uint32_t, size_t *))dlsym(cupti, "cuptiActivityGetNumDroppedRecords");
  int (*set_callbacks)(cupti_request_buffer, cupti_buffer_done) =
      (int (*)(cupti_request_buffer, cupti_buffer_done))dlsym(cupti, "cuptiActivityRegisterCallbacks");
  const char *device_bytes = getenv("MINIMAL_DEVICE_BYTES");
  if (device_bytes) limit_device_buffers((size_t)atol(device_bytes));
  char *own = strdup(kinds ? kinds : "");
  int answer = set_callbacks(request, done);
  if (answer == CUPTI_OK) answer = enable_kinds(own);
  free(own);
  if (answer == CUPTI_OK) atexit(tell);
  return answer == CUPTI_OK;
}
