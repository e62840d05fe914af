// SPDX-License-Identifier: Apache-2.0
// What the parts of the NVML of known values share.
#pragma once

#define EXPORT __attribute__((visibility("default")))
enum { kSuccess = 0, kNotSupported = 3, kNotFound = 6, kInsufficientSize = 7, kLost = 15, kGpusMax = 8 };

struct device {
  unsigned index, gpu_instance;  // gpu_instance 0: the whole GPU
  unsigned long long energy_mj, rx_bytes, tx_bytes, link_kib, link_rx_kib, power_ns;
};

// A question to a GPU: counts, and takes its time. Whether it has no answer.
int is_lost(const struct device *device);
