// SPDX-License-Identifier: Apache-2.0
// Samples all GPUs as rows (runner/events/gpu_sample.h). NVML counts energy, throttling and traffic from the load of
// the driver on; rows have their increases since the previous sample.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/events/gpu_sample.h"
#include "runner/model/run.h"
#include "runner/samplers/gpu/driver_samples.h"
#include "runner/samplers/gpu/gpu_pids.h"
#include "runner/samplers/gpu/nvml.h"
#include "runner/samplers/gpu/nvml_metrics.h"

namespace mlrun::gpu {

struct GpuRows {
  std::vector<mlrun_gpu_sample> gpus;
  std::vector<mlrun_gpu_process_sample> processes;
  std::vector<mlrun_gpu_driver_sample> driver = {};
};

class GpuWatch {
 public:
  // `fetches_samples`: also fetch the driver's own samples.
  GpuWatch(std::unique_ptr<Nvml> nvml, bool fetches_samples);

  // JSON texts, one per GPU and per MIG instance (runner/events/FORMAT.md). Device numbers begin at 1.
  [[nodiscard]] std::vector<std::string> describe() const;

  // Appends a row for each device and each process on it, and the driver's new samples.
  void sample(GpuRows& rows);

  // After a sample: the fields that the driver does not sample, by device.
  [[nodiscard]] std::vector<model::GpuSampler::NotSampled> not_sampled() const;

  [[nodiscard]] size_t count() const { return gpus_.size(); }

 private:
  struct Counter {
    int64_t value = MLRUN_NOT_KNOWN;
    uint64_t at_ns = 0;
  };
  struct Gpu {
    uint32_t number = 0;
    NvmlDevice device;
    std::unique_ptr<NvmlMetrics> metrics;
    std::unique_ptr<DriverSamples> samples;  // nullptr: not fetched
    uint64_t before_ns = 0;                  // time of the last sample; 0: none yet
    Counter counters[MLRUN_GPU_FIELDS];      // as of the last answered sample
    uint64_t last_seen_us = 0;               // time of the newest process sample seen
  };
  void read_device(Gpu& gpu, __s64* values) const;
  static void keep_differences(Gpu& gpu, uint64_t now_ns, __s64* values);
  void sample_processes(Gpu& gpu, uint64_t now_ns, uint64_t interval_ns, GpuRows& rows);

  std::unique_ptr<Nvml> nvml_;
  std::vector<Gpu> gpus_;
  GpuPids pids_;
};

}  // namespace mlrun::gpu
