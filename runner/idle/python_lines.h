// SPDX-License-Identifier: Apache-2.0
// The Python line that a thread was in, from stack samples, for pieces of gaps in which the thread was on a processor.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/idle/gap_finder.h"

namespace mlrun::idle {

class PythonLines {
 public:
  // Successive samples with the same stack, from first_ns to last_ns, `apart_ns` apart on average; 0: a single sample.
  struct Sample {
    int64_t first_ns = 0, last_ns = 0;
    int32_t stack_id = 0, frame_id = 0;  // of the innermost frame
    int64_t apart_ns = 0;
  };

  // Beyond kSamplesMax, samples are only counted. Thread 0 (unknown) is ignored.
  void add(int32_t thread_id, const Sample& sample);
  // Call after the last add().
  void sort();

  // The sample within the piece that is nearest to the piece's middle; nullptr: none.
  [[nodiscard]] const Sample* find(int32_t thread_id, Stretch piece) const;
  [[nodiscard]] int64_t left_out() const { return left_out_; }

 private:
  static constexpr int64_t kSamplesMax = 8'000'000;

  std::unordered_map<int32_t, std::vector<Sample>> samples_;
  int64_t count_ = 0, left_out_ = 0;
};

}  // namespace mlrun::idle
