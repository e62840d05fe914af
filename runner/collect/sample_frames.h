// SPDX-License-Identifier: Apache-2.0
// Writes the rows of a sampler into the spool (runner/events/gpu_sample.h). The collector's thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/collect/spool_writer.h"
#include "runner/events/gpu_sample.h"

namespace mlrun::collect {

class SampleFrames {
 public:
  SampleFrames(Spool& spool, mlrun_clock_kind clock) : spool_(spool), clock_(clock) {}

  // Writes a frame of any type but MLRUN_FRAME_SAMPLES.
  void put(mlrun_frame_type type, const void* payload, size_t bytes);
  // Writes rows of a table, in as many frames as they need; none once the spool is full. Requires: `bytes` is a multiple of `row_bytes`.
  void put_rows(mlrun_sample_table table, uint32_t row_bytes, const void* rows, size_t bytes);
  template <typename Row>
  void put_rows(mlrun_sample_table table, const std::vector<Row>& rows) {
    put_rows(table, sizeof(Row), rows.data(), rows.size() * sizeof(Row));
  }

 private:
  [[nodiscard]] mlrun_frame header(mlrun_frame_type type) const;

  Spool& spool_;
  mlrun_clock_kind clock_;
};

}  // namespace mlrun::collect
