// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/rounds/round_frames.h"

#include <string>
#include <utility>

#include "runner/util/clock.h"

namespace mlrun::rounds {

void RoundFrames::watch() {
  constexpr uint64_t kPauseNs = 50'000'000;
  const uint64_t now_ns = util::monotonic_ns();
  const bool was_paused = std::exchange(is_paused_, collector_.latest_pause().goes_on());
  if (now_ns < next_watch_ns_ && is_paused_ == was_paused) return;
  next_watch_ns_ = now_ns + kPauseNs;
  sampler_.watch(collector_.processes(), is_paused_);
}

void RoundFrames::write(bool all) {
  constexpr uint64_t kPauseNs = 1'000'000'000;
  const uint64_t now_ns = util::monotonic_ns();
  if (!all && now_ns < next_write_ns_) return;
  next_write_ns_ = now_ns + kPauseNs;
  const Sampler::News news = sampler_.fetch();
  for (const std::string& payload : news.python) frames_.put(MLRUN_FRAME_PYTHON, payload.data(), payload.size());
  frames_.put_rows(MLRUN_SAMPLE_THREAD, news.threads);
  frames_.put_rows(MLRUN_SAMPLE_MACHINE, news.machine);
}

}  // namespace mlrun::rounds
