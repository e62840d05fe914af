// SPDX-License-Identifier: Apache-2.0
#include "cupti/kinds.h"

#include <stddef.h>

#include "cupti/session.h"
#include "cupti/traced_calls.h"

// What a recording cannot do without comes first, and has a name.
static const struct {
  uint32_t kind;
  const char *name;
} kKinds[] = {{CUPTI_GRAPH_TRACE, NULL},  // before what its graphs consist of
              {CUPTI_RUNTIME, "cuptiActivityEnable(RUNTIME)"},
              {CUPTI_CONCURRENT_KERNEL, "cuptiActivityEnable(CONCURRENT_KERNEL)"},
              {CUPTI_MEMCPY, NULL},
              {CUPTI_MEMCPY2, NULL},
              {CUPTI_MEMSET, NULL},
              {CUPTI_SYNCHRONIZATION, NULL},
              {CUPTI_MEMORY2, NULL},
              {CUPTI_OVERHEAD, NULL},
              {CUPTI_DEVICE, NULL}};
enum { kCount = sizeof kKinds / sizeof kKinds[0] };

static bool is_wanted(uint32_t kind) {
  return kind != CUPTI_GRAPH_TRACE || session.producer->streams() & MLRUN_STREAM_GPU_GRAPHS;
}

int switch_kinds_on(const char **refused) {
  for (size_t i = 0; i < kCount; i++) {
    int answer = is_wanted(kKinds[i].kind) ? session.cupti.enable(kKinds[i].kind) : CUPTI_OK;
    if (answer == CUPTI_OK || !kKinds[i].name) continue;
    *refused = kKinds[i].name;
    return answer;
  }
  choose_traced_calls();
  return CUPTI_OK;
}

void switch_kinds_off(uint64_t kept) {
  leave_traced_calls(kept >> CUPTI_DRIVER & 1);
  for (size_t i = 0; i < kCount; i++)
    if (is_wanted(kKinds[i].kind) && !(kept >> kKinds[i].kind & 1)) session.cupti.disable(kKinds[i].kind);
}

uint64_t wanted_kinds(void) {
  uint64_t kinds = 1ull << CUPTI_DRIVER;
  for (size_t i = 0; i < kCount; i++) kinds |= is_wanted(kKinds[i].kind) ? 1ull << kKinds[i].kind : 0;
  return kinds;
}
