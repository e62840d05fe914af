// SPDX-License-Identifier: Apache-2.0
#include "cupti/kinds.h"

#include <stddef.h>

#include "cupti/gpu_record.h"
#include "cupti/other_client_state.h"
#include "cupti/session.h"
#include "cupti/traced_calls.h"

static const struct {
  uint32_t kind;
  bool is_needed;  // if CUPTI refuses this kind, nothing is recorded
  const char *name;
} kKinds[] = {{CUPTI_GRAPH_TRACE, false, "GRAPH_TRACE"},  // must be switched on before the kinds of a graph's nodes
              {CUPTI_RUNTIME, true, "RUNTIME"},
              {CUPTI_CONCURRENT_KERNEL, true, "CONCURRENT_KERNEL"},
              {CUPTI_MEMCPY, false, "MEMCPY"},
              {CUPTI_MEMCPY2, false, "MEMCPY2"},
              {CUPTI_MEMSET, false, "MEMSET"},
              {CUPTI_SYNCHRONIZATION, false, "SYNCHRONIZATION"},
              {CUPTI_MEMORY2, false, "MEMORY2"},
              {CUPTI_OVERHEAD, false, "OVERHEAD"},
              {CUPTI_DEVICE, false, "DEVICE"}};
enum { kCount = sizeof kKinds / sizeof kKinds[0] };

static bool is_wanted(uint32_t kind) {
  return kind != CUPTI_GRAPH_TRACE || session.producer->streams() & MLRUN_STREAM_GPU_GRAPHS;
}

// `wanted`: CUPTI also delivers records of queries that found an event or a stream unfinished. We do not want them: a
// program that polls makes such queries all the time.
static void set_all_syncs(bool wanted) {
  if (session.cupti.enable_all_syncs) session.cupti.enable_all_syncs(wanted);
}

int switch_kinds_on(const char **refused) {
  for (size_t i = 0; i < kCount; i++) {
    int answer = is_wanted(kKinds[i].kind) ? session.cupti.enable(kKinds[i].kind) : CUPTI_OK;
    if (answer == CUPTI_OK) continue;
    if (kKinds[i].is_needed) {
      *refused = kKinds[i].name;
      return answer;
    }
    put_note_text(MLRUN_GPU_REFUSED, (uint64_t)(unsigned)answer, kKinds[i].name);
  }
  choose_traced_calls();
  set_all_syncs(false);
  return CUPTI_OK;
}

void switch_kinds_off(uint64_t kept) {
  set_all_syncs(!other.leaves_syncs_out);
  leave_traced_calls(kept >> CUPTI_DRIVER & 1);
  for (size_t i = 0; i < kCount; i++)
    if (is_wanted(kKinds[i].kind) && !(kept >> kKinds[i].kind & 1)) session.cupti.disable(kKinds[i].kind);
}

bool ask_for_devices(void) {
  static bool is_asked;
  if (is_asked || !session.cupti.enable_and_dump) return false;
  is_asked = true;
  int answer = session.cupti.enable_and_dump(CUPTI_DEVICE);
  if (answer != CUPTI_OK) put_note_text(MLRUN_GPU_REFUSED, (uint64_t)(unsigned)answer, "DEVICE");
  return answer == CUPTI_OK;
}

uint64_t wanted_kinds(void) {
  uint64_t kinds = 1ull << CUPTI_DRIVER;
  for (size_t i = 0; i < kCount; i++) kinds |= is_wanted(kKinds[i].kind) ? 1ull << kKinds[i].kind : 0;
  return kinds;
}
