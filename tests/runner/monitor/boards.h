// SPDX-License-Identifier: Apache-2.0
// Rows and texts about GPUs, as the sampler makes them.
#pragma once

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "runner/events/gpu_sample.h"

namespace mlrun::monitor {

inline std::string gpu_text(int number, const std::string& uuid) {
  return fmt::format(R"({{"number":{},"kind":"gpu","index":{},"uuid":"{}","name":"Fake","pci":"0001:17:02.0",
                         "memory_bytes":1000,"driver":"580.01","gpm":false}})",
                     number, number - 1, uuid);
}

inline std::string mig_text(int number, const std::string& uuid, int parent, int gpu_instance, int compute_instance) {
  return fmt::format(R"({{"number":{},"kind":"mig","index":{},"uuid":"{}","name":"Fake","pci":"0001:17:02.0",
                         "memory_bytes":500,"driver":"580.01","gpm":false,"gpu_instance":{},"compute_instance":{},
                         "parent":{}}})",
                     number, parent - 1, uuid, gpu_instance, compute_instance, parent);
}

inline mlrun_gpu_sample silent_row(uint32_t device, uint64_t monotonic_ns) {
  mlrun_gpu_sample row{};
  std::fill(std::begin(row.values), std::end(row.values), MLRUN_NOT_KNOWN);
  row.device = device;
  row.monotonic_ns = monotonic_ns;
  return row;
}

inline mlrun_gpu_sample gpu_row(uint32_t device, uint64_t monotonic_ns, int64_t received_bytes) {
  mlrun_gpu_sample row = silent_row(device, monotonic_ns);
  row.values[MLRUN_GPU_FB_USED] = 100;
  row.values[MLRUN_GPU_PCIE_RX_BYTES] = received_bytes;
  return row;
}

inline mlrun_gpu_process_sample process_row(uint32_t device, uint64_t monotonic_ns, uint32_t pid) {
  mlrun_gpu_process_sample row{};
  row.device = device;
  row.monotonic_ns = monotonic_ns;
  row.driver_pid = row.pid = pid;
  row.gpu_instance = row.compute_instance = -1;
  row.sm = row.mem = row.enc = row.dec = row.jpg = row.ofa = -1;
  row.fb_used = row.fb_protected = MLRUN_NOT_KNOWN;
  return row;
}

}  // namespace mlrun::monitor
