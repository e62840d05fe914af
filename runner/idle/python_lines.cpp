// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/python_lines.h"

#include <algorithm>

namespace mlrun::idle {

namespace {

int64_t distance_ns(const PythonLines::Sample& sample, int64_t moment_ns) {
  if (moment_ns < sample.first_ns) return sample.first_ns - moment_ns;
  return std::max<int64_t>(0, moment_ns - sample.last_ns);
}

// Whether one of the samples was probably taken within the piece. Only the first and last time are known: a piece between
// them counts if it is at least twice as long as their average distance.
bool has_sample_in(const PythonLines::Sample& sample, Stretch piece) {
  const auto lies_in = [&](int64_t moment_ns) { return moment_ns >= piece.start_ns && moment_ns < piece.end_ns; };
  if (lies_in(sample.first_ns) || lies_in(sample.last_ns)) return true;
  const bool spans = sample.first_ns < piece.start_ns && sample.last_ns >= piece.end_ns;
  return spans && sample.apart_ns > 0 && piece.end_ns - piece.start_ns >= 2 * sample.apart_ns;
}

}  // namespace

void PythonLines::add(int32_t thread_id, const Sample& sample) {
  if (thread_id == 0) return;
  if (count_ == kSamplesMax) {
    ++left_out_;
    return;
  }
  ++count_;
  samples_[thread_id].push_back(sample);
}

void PythonLines::sort() {
  for (auto& [thread_id, samples] : samples_) {
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.first_ns < b.first_ns; });
  }
}

const PythonLines::Sample* PythonLines::find(int32_t thread_id, Stretch piece) const {
  const auto of_thread = samples_.find(thread_id);
  if (of_thread == samples_.end()) return nullptr;
  const std::vector<Sample>& samples = of_thread->second;
  const int64_t middle_ns = piece.start_ns + (piece.end_ns - piece.start_ns) / 2;
  const auto after = std::partition_point(samples.begin(), samples.end(),
                                          [&](const Sample& sample) { return sample.last_ns < middle_ns; });
  const Sample* nearest = nullptr;
  for (auto sample = after == samples.begin() ? after : after - 1; sample != samples.end() && sample <= after;
       ++sample) {
    if (!has_sample_in(*sample, piece)) continue;
    if (!nearest || distance_ns(*sample, middle_ns) < distance_ns(*nearest, middle_ns)) nearest = &*sample;
  }
  return nearest;
}

}  // namespace mlrun::idle
