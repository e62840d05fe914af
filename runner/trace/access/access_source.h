// SPDX-License-Identifier: Apache-2.0
// Reads the samples of --access from the spool in order of time. Frames in the spool are only nearly in order of time, so
// samples wait until no earlier one can follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "runner/trace/access/access_row.h"
#include "runner/trace/index/spool_index.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// Visits all samples, in the order of the spool.
Status for_each_sample(const SpoolIndex& index, const std::function<void(const mlrun_access_sample&)>& visit);

class AccessSource {
 public:
  explicit AccessSource(const SpoolIndex& index) : index_(index) {}

  // The next sample up to `until_ns`; nullptr: there is none. Valid until the next call.
  Result<const mlrun_access_sample*> next(int64_t until_ns);
  [[nodiscard]] uint64_t damaged_rows() const { return damaged_rows_; }

 private:
  Status read_frame();

  const SpoolIndex& index_;
  size_t frame_ = 0;
  int64_t read_until_ns_ = 0;  // all samples up to this time have been read
  std::deque<mlrun_access_sample> waiting_;
  mlrun_access_sample current_{};
  uint64_t damaged_rows_ = 0;
};

}  // namespace mlrun::trace
