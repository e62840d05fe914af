// SPDX-License-Identifier: Apache-2.0
// The current state of the GPUs: for each its newest sample, the totals of its counters since the monitor started, and
// when it last answered. Survives the loss of the driver: GPUs are identified by UUID.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/samplers/gpu/gpu_watch.h"

namespace mlrun::monitor {

struct GpuAbout {
  uint32_t number = 0, parent = 0;  // numbers as in the sampler's rows; parent: the GPU of a MIG instance, else 0
  std::string uuid, name, pci, driver;
  int index = 0;  // NVML's index of the GPU; for a MIG instance that of its GPU
  int64_t memory_bytes = -1;
  bool is_mig = false;
  int32_t gpu_instance = -1, compute_instance = -1;

  // "1" for a GPU; "1:2.0" for a MIG instance: the GPU's index, GPU instance, compute instance.
  [[nodiscard]] std::string index_text() const;
};

struct GpuHistory {
  uint64_t last_seen_ns = 0;  // CLOCK_REALTIME; 0: the GPU has not answered yet
  uint64_t samples = 0, unanswered = 0;
  std::array<int64_t, MLRUN_GPU_FIELDS> added{};  // totals of fields that count per interval
  std::array<bool, MLRUN_GPU_FIELDS> counts{};    // whether the GPU ever reported the field
};

struct GpuNow {
  GpuAbout about;
  mlrun_gpu_sample row{};  // the newest sample; monotonic_ns 0: none yet
  bool answered = false;   // the newest sample has a value
  GpuHistory history{};
};

struct ProcessNow {
  mlrun_gpu_process_sample row{};
  size_t gpu = 0;                // index in gpus(), of the MIG instance if it is known
  std::string user, comm, args;  // empty: unknown, or not requested
};

class GpuBoard {
 public:
  // Sets the GPUs from the texts of GpuWatch::describe(). Clears the processes.
  void set_gpus(const std::vector<std::string>& texts);

  // Adds rows of samples, sorted by time. Returns whether there were any rows of GPUs.
  bool add(const gpu::GpuRows& rows);

  // To be called when the driver does not answer: drops the last values, which are stale.
  void forget_values();

  [[nodiscard]] const std::vector<GpuNow>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<ProcessNow>& processes() const { return processes_; }
  [[nodiscard]] std::vector<ProcessNow>& processes() { return processes_; }

 private:
  [[nodiscard]] size_t place_of(const mlrun_gpu_process_sample& row) const;

  std::vector<GpuNow> gpus_;
  std::vector<ProcessNow> processes_;
  std::map<std::string, GpuHistory> gone_;  // by UUID: GPUs of an earlier list
};

}  // namespace mlrun::monitor
