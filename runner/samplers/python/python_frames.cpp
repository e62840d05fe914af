// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/python_frames.h"

#include <string>

#include "runner/util/clock.h"

namespace mlrun::python {

void PythonFrames::tell() {
  constexpr uint64_t kPauseNs = 20'000'000;
  const uint64_t now_ns = util::monotonic_ns();
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + kPauseNs;
  sampler_.watch(collector_.processes());
}

void PythonFrames::write() {
  for (const std::string& payload : sampler_.fetch()) {
    if (payload.size() > collect::Spool::kPayloadMax) continue;
    mlrun_frame frame{};
    frame.type = MLRUN_FRAME_PYTHON;
    frame.first = frame.last = util::stamp(clock_);
    spool_.put_report(frame, payload.data(), static_cast<uint32_t>(payload.size()));
  }
}

}  // namespace mlrun::python
