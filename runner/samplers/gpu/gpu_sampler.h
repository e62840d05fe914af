// SPDX-License-Identifier: Apache-2.0
// Looks at the GPUs at a steady rate, from a thread of its own: a driver may take milliseconds to answer, and the
// collector must not wait for it. The rows wait here until the collector fetches them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runner/samplers/gpu/gpu_watch.h"

namespace mlrun::gpu {

struct GpuSamplerState {
  size_t gpus = 0;
  uint64_t looks = 0;
  uint64_t late_looks = 0;  // due while the driver still answered the one before: left out
  uint64_t look_ns = 0;     // that all looks took together
  uint64_t rows_dropped = 0;
  std::vector<std::pair<uint32_t, std::vector<std::string>>> not_sampled;  // by the driver, of which device
  std::string problem;  // one line: why there are no samples; empty: there are
};

class GpuSampler {
 public:
  // Starts the thread; what comes of it, state() tells. All signals are blocked in it.
  // `looks_per_second`: 0: none, only which devices there are. `fetches_samples`: what the driver has sampled by itself between
  // looks, too.
  GpuSampler(double looks_per_second, bool fetches_samples);
  // Waits up to a second for a look that is under way; a driver that answers no more is left to itself.
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  // Ends the looks, after one more.
  void stop();

  // What has come since the last call: texts about devices, then rows.
  struct News {
    std::vector<std::string> devices;
    GpuRows rows;
  };
  News fetch();
  [[nodiscard]] GpuSamplerState state() const;

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  static std::string watch_gpus(Shared& shared);

  std::shared_ptr<Shared> shared_;  // also the thread's, which may outlive this
};

}  // namespace mlrun::gpu
