// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/window.h"

#include "preload/placement/pages.h"
#include "runner/events/placed_mappings.h"

// Leaves 1 TiB below this library for mappings that the kernel places. The window's lower end is 5 TiB below this library: ThreadSanitizer allows no
// mappings further down.
enum { kWindowBelowBits = MLRUN_PLACE_BELOW_BITS };

HOT struct window window = {0, UINTPTR_MAX};
uintptr_t window_tables[kSegments];

bool window_choose(void) {
  const uintptr_t bytes = (uintptr_t)kSegments << kSegmentBits, own = (uintptr_t)&window;
  if (own < ((uintptr_t)1 << kWindowBelowBits) + 2 * bytes) return false;
  window.base = ((own - ((uintptr_t)1 << kWindowBelowBits)) >> kSegmentBits << kSegmentBits) - bytes;
  return true;
}

bool window_add_tables(uint32_t first, uint32_t end) {
  for (uint32_t segment = first / kSegmentPages; segment <= (end - 1) / kSegmentPages; segment++) {
    if (window_tables[segment]) continue;
    void *table = pages_map(NULL, kSegmentPages * sizeof(struct run));
    if (!table) return false;
    __atomic_store_n(&window_tables[segment], (uintptr_t)table, __ATOMIC_RELEASE);
  }
  return true;
}
