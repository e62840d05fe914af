// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/sample_frames.h"

#include <algorithm>
#include <cstring>

#include "runner/util/clock.h"

namespace mlrun::collect {

mlrun_frame SampleFrames::header(mlrun_frame_type type) const {
  mlrun_frame frame{};
  frame.type = static_cast<__u16>(type);
  frame.first = frame.last = util::stamp(clock_);
  return frame;
}

void SampleFrames::put(mlrun_frame_type type, const void* payload, size_t bytes) {
  spool_.put_report(header(type), payload, static_cast<uint32_t>(bytes));
}

void SampleFrames::put_rows(mlrun_sample_table table, uint32_t row_bytes, const void* rows, size_t bytes) {
  const size_t bytes_max = (Spool::kPayloadMax - sizeof(mlrun_frame_samples)) / row_bytes * row_bytes;
  std::vector<char> payload;
  for (size_t at = 0; at < bytes; at += bytes_max) {
    const size_t count = std::min(bytes_max, bytes - at);
    const mlrun_frame_samples head{static_cast<__u32>(table), row_bytes, static_cast<__u32>(count / row_bytes), 0};
    payload.resize(sizeof head + count);
    std::memcpy(payload.data(), &head, sizeof head);
    std::memcpy(payload.data() + sizeof head, static_cast<const char*>(rows) + at, count);
    spool_.put_rows(header(MLRUN_FRAME_SAMPLES), payload.data(), static_cast<uint32_t>(payload.size()));
  }
}

}  // namespace mlrun::collect
