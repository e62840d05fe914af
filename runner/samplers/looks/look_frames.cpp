// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/looks/look_frames.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runner/util/clock.h"

namespace mlrun::looks {

void LookFrames::tell() {
  constexpr uint64_t kPauseNs = 50'000'000;
  const uint64_t now_ns = util::monotonic_ns();
  if (now_ns < next_tell_ns_) return;
  next_tell_ns_ = now_ns + kPauseNs;
  sampler_.watch(collector_.processes());
}

void LookFrames::put(mlrun_frame_type type, const void* payload, size_t bytes) {
  mlrun_frame frame{};
  frame.type = static_cast<__u16>(type);
  frame.first = frame.last = util::stamp(clock_);
  spool_.put_report(frame, payload, static_cast<uint32_t>(bytes));
}

template <typename Row>
void LookFrames::put_rows(mlrun_sample_table table, const std::vector<Row>& rows) {
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

void LookFrames::write(bool all) {
  constexpr uint64_t kPauseNs = 1'000'000'000;
  const uint64_t now_ns = util::monotonic_ns();
  if (!all && now_ns < next_write_ns_) return;
  next_write_ns_ = now_ns + kPauseNs;
  const Sampler::News news = sampler_.fetch();
  for (const std::string& payload : news.python) put(MLRUN_FRAME_PYTHON, payload.data(), payload.size());
  put_rows(MLRUN_SAMPLE_THREAD, news.threads);
  put_rows(MLRUN_SAMPLE_MACHINE, news.machine);
}

}  // namespace mlrun::looks
