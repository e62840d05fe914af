// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/gpu/gpu_frames.h"

#include "runner/util/clock.h"

namespace mlrun::gpu {

namespace {
constexpr uint64_t kPauseNs = 1'000'000'000;
}

void GpuFrames::write(bool all) {
  const uint64_t now_ns = util::monotonic_ns();
  if (!all && now_ns < next_ns_) return;
  next_ns_ = now_ns + kPauseNs;
  const GpuSampler::News news = sampler_.fetch();
  for (const std::string& text : news.devices) frames_.put(MLRUN_FRAME_GPU, text.data(), text.size());
  frames_.put_rows(MLRUN_SAMPLE_GPU, news.rows.gpus);
  frames_.put_rows(MLRUN_SAMPLE_GPU_PROCESS, news.rows.processes);
  frames_.put_rows(MLRUN_SAMPLE_GPU_DRIVER, news.rows.driver);
}

}  // namespace mlrun::gpu
