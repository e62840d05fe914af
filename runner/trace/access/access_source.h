// SPDX-License-Identifier: Apache-2.0
// Reads samples from the spool in order of time: those of --access, and those of pages. Frames in the spool are only nearly in order of time, so
// samples wait until no earlier one can follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "runner/events/access_sample.h"
#include "runner/events/page_sample.h"
#include "runner/model/trace_info.h"
#include "runner/trace/index/spool_index.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// Visits the samples of forked processes, in the order of the spool. Sample: mlrun_access_sample or mlrun_page_sample.
template <typename Sample>
Status for_each_sample_of_children(const SpoolIndex& index, const model::TraceInfo& info,
                                   const std::function<void(const Sample&)>& visit);

template <typename Sample>
class SampleSource {
 public:
  explicit SampleSource(const SpoolIndex& index) : index_(index) {}

  // The next sample up to `until_ns`; nullptr: there is none. Valid until the next call.
  Result<const Sample*> next(int64_t until_ns);
  [[nodiscard]] uint64_t damaged_rows() const { return damaged_rows_; }

 private:
  Status read_frame();

  const SpoolIndex& index_;
  size_t frame_ = 0;
  int64_t read_until_ns_ = 0;  // all samples up to this time have been read
  std::deque<Sample> waiting_;
  Sample current_{};
  uint64_t damaged_rows_ = 0;
};

}  // namespace mlrun::trace
