// SPDX-License-Identifier: Apache-2.0
// The driver's own samples: power every 20 ms, utilisation of GPU 0 and of its memory every 50 ms, the clock never.
// Each value is derived from its time stamp, so that missing and repeated samples show. A query returns the whole ring
// of 100, also samples returned before; two entries are no samples, one in the future and one that is empty.
#include <time.h>

#include "nvml_device.h"

enum { kRing = 100 };
struct own_sample {
  unsigned long long us;
  union {
    double real;
    unsigned number;
    unsigned long long wide;
  } value;
};
EXPORT int nvmlDeviceGetSamples(struct device *device, int what, unsigned long long last_seen_us, int *type,
                                unsigned *count, struct own_sample *out) {
  if (is_lost(device)) return kLost;
  if (what == 5 || (what == 2 && device->index == 1)) return kNotSupported;
  (void)last_seen_us;
  if (!out) {
    *count = kRing + 2;
    return kSuccess;
  }
  if (*count < kRing + 2) return 2;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const unsigned long long now_us = (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
  const unsigned long long step = what == 0 ? 20000 : 50000, last = now_us / step;
  *type = what == 0 ? 1 : 3;  // unsigned, unsigned long long
  out[0] = (struct own_sample){.us = now_us + 3600000000ull, .value.wide = 1};
  out[1] = (struct own_sample){0};
  for (unsigned i = 0; i < kRing; i++) {
    const unsigned long long number = last - kRing + 1 + i;
    out[2 + i] = (struct own_sample){.us = number * step, .value.wide = 0};
    if (what == 0) out[2 + i].value.number = (unsigned)(number % 100000);
    if (what != 0) out[2 + i].value.wide = number % 101;
  }
  *count = kRing + 2;
  return kSuccess;
}
