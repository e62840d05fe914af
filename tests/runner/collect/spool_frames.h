// SPDX-License-Identifier: Apache-2.0
// Reads a whole spool, strictly: a byte that does not belong to a whole frame is an error. For tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/events/spool.h"

namespace mlrun::collect::testing {

struct Frame {
  mlrun_frame header{};
  uint64_t offset = 0;
  std::string payload;

  template <typename T>
  [[nodiscard]] T as() const {
    T value{};
    payload.copy(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }
};

struct SpoolFrames {
  std::vector<Frame> frames;
  std::string error;  // empty: the spool is whole

  [[nodiscard]] std::vector<Frame> of_type(mlrun_frame_type type) const;
  [[nodiscard]] std::vector<mlrun_frame_gap> gaps(mlrun_gap_reason reason) const;
  // Numbers of the records of RecordingThread, by channel serial, in the order of the spool.
  [[nodiscard]] std::map<uint64_t, std::vector<uint64_t>> numbers() const;
};

// `path`: the spool file. Checks checksums, chunks, and, unless `twins` are allowed, that each (channel, seq) is
// unique.
SpoolFrames read_spool(const std::string& path, bool twins = false);

}  // namespace mlrun::collect::testing
