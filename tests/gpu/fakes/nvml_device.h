// SPDX-License-Identifier: Apache-2.0
// What the parts of the NVML of known values share.
#pragma once

#define EXPORT __attribute__((visibility("default")))
// The name of a function that has a second version since driver 470.
#if DRIVER >= 470
#define V2(name) name##_v2
#else
#define V2(name) name
#endif
enum { kSuccess = 0, kNotSupported = 3, kNotFound = 6, kInsufficientSize = 7, kLost = 15, kGpusMax = 8 };

struct device {
  unsigned index, gpu_instance;  // gpu_instance 0: the whole GPU
  unsigned long long energy_mj, rx_bytes, tx_bytes, link_kib, link_rx_kib, power_ns;
};

// The number in a variable of the environment.
int setting(const char *name, int otherwise);

// Each query of a GPU begins with one of these two: it is counted, and takes its time. is_lost: whether it has no answer.
void is_asked(void);
int is_lost(const struct device *device);
// The same without a query.
int is_away(const struct device *device);
