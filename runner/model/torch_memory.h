// SPDX-License-Identifier: Apache-2.0
// PyTorch's allocator of GPU memory gave out or took back a piece, as a row of torch_memory. What the columns mean to a
// reader: runner/trace/TABLES.md.
#pragma once

#include <cstdint>

#include "runner/model/rows.h"

namespace mlrun::model {

struct TorchMemoryRow {
  Origin origin;
  bool is_release = false;
  uint64_t address = 0;
  int64_t bytes = -1;       // of a release: as its allocation had it; -1: that was not seen
  int32_t device = -1;      // PyTorch's index; likewise
  int64_t stream = 0;       // PyTorch's number of an allocation's
  int64_t held_bytes = -1;  // by the process on that device, after this; -1: of no device
};

}  // namespace mlrun::model
