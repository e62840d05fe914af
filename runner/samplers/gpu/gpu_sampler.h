// SPDX-License-Identifier: Apache-2.0
// Samples the GPUs at a steady rate in a thread of its own: a driver may take milliseconds to answer, and the collector
// must not wait for it. Rows are buffered here until the collector fetches them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/model/run.h"
#include "runner/samplers/gpu/gpu_watch.h"

namespace mlrun::gpu {

class GpuSampler {
 public:
  // Starts the thread; state() reports the outcome. All signals are blocked in it.
  // `samples_per_second` 0: only the list of devices. `fetches_samples`: also fetch the driver's own samples.
  GpuSampler(double samples_per_second, bool fetches_samples);
  // Waits up to a second for a sample in progress; a driver that does not return is abandoned with its thread.
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  // Ends the sampling after one more sample.
  void stop();

  // New data since the last call: texts about devices, then rows.
  struct News {
    std::vector<std::string> devices;
    GpuRows rows;
  };
  News fetch();
  [[nodiscard]] model::GpuSampler state() const;

 private:
  struct Shared;
  static void watch_gpus(Shared& shared);

  std::shared_ptr<Shared> shared_;  // shared with the thread, which may outlive this
};

}  // namespace mlrun::gpu
