// SPDX-License-Identifier: Apache-2.0
// Sizes of frames in the spool (runner/events/spool.h).
#pragma once

#include <cstdint>

#include "runner/events/spool.h"

namespace mlrun::collect {

inline constexpr uint64_t kHeaderBytes = sizeof(mlrun_frame);

// Space that a frame of `bytes` takes in the file.
constexpr uint64_t aligned(uint64_t bytes) {
  return (bytes + MLRUN_FRAME_ALIGN - 1) / MLRUN_FRAME_ALIGN * MLRUN_FRAME_ALIGN;
}

}  // namespace mlrun::collect
