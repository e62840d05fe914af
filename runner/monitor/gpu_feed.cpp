// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/gpu_feed.h"

#include <algorithm>

#include <fmt/format.h>

#include "runner/util/clock.h"
#include "runner/util/time_units.h"

namespace mlrun::monitor {

namespace {
constexpr uint64_t kLeastPatienceNs = 5 * util::kNsPerS;
}

GpuFeed::GpuFeed(uint64_t interval_ns) : interval_ns_(interval_ns) { start(util::monotonic_ns()); }

uint64_t GpuFeed::patience_ns() const { return std::max(3 * interval_ns_, kLeastPatienceNs); }

void GpuFeed::start(uint64_t now_ns) {
  sampler_ =
      std::make_unique<gpu::GpuSampler>(static_cast<double>(util::kNsPerS) / static_cast<double>(interval_ns_), false);
  counted_ = {};
  last_sample_ns_ = now_ns;
  retry_ns_ = now_ns + pause_ns_;
}

void GpuFeed::add_up(const model::GpuSampler& now) {
  state_.samples += now.samples - counted_.samples;
  state_.late_samples += now.late_samples - counted_.late_samples;
  state_.sample_ns += now.sample_ns - counted_.sample_ns;
  counted_ = now;
}

// Sets the state and decides about a retry. A driver that hangs is not retried: each attempt would block one more thread.
void GpuFeed::judge(uint64_t now_ns, const model::GpuSampler& now, GpuBoard& board) {
  const bool hangs = now.problem.empty() && now_ns - last_sample_ns_ > patience_ns();
  const bool silent = std::any_of(board.gpus().begin(), board.gpus().end(),
                                  [](const GpuNow& gpu) { return gpu.history.samples != 0 && !gpu.answered; });
  if (hangs) {
    state_.problem =
        fmt::format("the NVIDIA driver has not answered for {} s", (now_ns - last_sample_ns_) / util::kNsPerS);
  } else {
    state_.problem = now.problem;
  }
  state_.hangs = hangs;
  state_.tried = state_.tried || !state_.problem.empty() || now.samples != 0;
  if (!state_.problem.empty()) board.forget_values();
  if (!silent) pause_ns_ = kRetryNs;
  if (hangs || (now.problem.empty() && !silent) || now_ns < retry_ns_) return;
  if (now.problem.empty()) pause_ns_ = std::min(2 * pause_ns_, kLongestRetryNs);
  start(now_ns);
}

bool GpuFeed::poll(uint64_t now_ns, GpuBoard& board) {
  gpu::GpuSampler::News news = sampler_->fetch();
  const model::GpuSampler now = sampler_->state();
  if (!news.devices.empty()) board.set_gpus(news.devices);
  const bool sampled = board.add(news.rows);
  if (sampled) last_sample_ns_ = now_ns;
  add_up(now);
  judge(now_ns, now, board);
  return sampled;
}

}  // namespace mlrun::monitor
