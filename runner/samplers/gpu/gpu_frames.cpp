// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/gpu/gpu_frames.h"

#include <algorithm>
#include <cstring>

#include "runner/util/clock.h"

namespace mlrun::gpu {

namespace {
constexpr uint64_t kPauseNs = 1'000'000'000;
}

void GpuFrames::put(mlrun_frame_type type, const void* payload, size_t bytes) {
  mlrun_frame frame{};
  frame.type = static_cast<__u16>(type);
  frame.first = frame.last = util::stamp(clock_);
  spool_.put_report(frame, payload, static_cast<uint32_t>(bytes));
}

template <typename Row>
void GpuFrames::put_rows(mlrun_sample_table table, const std::vector<Row>& rows) {
  constexpr size_t kRowsMax = (collect::Spool::kPayloadMax - sizeof(mlrun_frame_samples)) / sizeof(Row);
  std::vector<char> payload;
  for (size_t at = 0; at < rows.size(); at += kRowsMax) {
    const size_t count = std::min(kRowsMax, rows.size() - at);
    const mlrun_frame_samples head{static_cast<__u32>(table), sizeof(Row), static_cast<__u32>(count), 0};
    payload.resize(sizeof head + count * sizeof(Row));
    std::memcpy(payload.data(), &head, sizeof head);
    std::memcpy(payload.data() + sizeof head, &rows[at], count * sizeof(Row));
    put(MLRUN_FRAME_SAMPLES, payload.data(), payload.size());
  }
}

void GpuFrames::write(bool all) {
  const uint64_t now_ns = util::monotonic_ns();
  if (!all && now_ns < next_ns_) return;
  next_ns_ = now_ns + kPauseNs;
  const GpuSampler::News news = sampler_.fetch();
  for (const std::string& text : news.devices) put(MLRUN_FRAME_GPU, text.data(), text.size());
  put_rows(MLRUN_SAMPLE_GPU, news.rows.gpus);
  put_rows(MLRUN_SAMPLE_GPU_PROCESS, news.rows.processes);
  put_rows(MLRUN_SAMPLE_GPU_DRIVER, news.rows.driver);
}

}  // namespace mlrun::gpu
