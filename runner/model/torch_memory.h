// SPDX-License-Identifier: Apache-2.0
// An allocation or release by PyTorch's allocator of GPU memory: a row of torch_memory. Columns:
// runner/trace/TABLES.md.
#pragma once

#include <cstdint>

#include "runner/model/rows.h"

namespace mlrun::model {

struct TorchMemoryRow {
  Origin origin;
  bool is_release = false;
  uint64_t address = 0;
  int64_t bytes = -1;       // of a release: bytes of the released allocation; -1: not recorded
  int32_t device = -1;      // PyTorch's index; a release has that of its allocation; -1: not recorded
  int64_t stream = 0;       // PyTorch's stream number of an allocation
  int64_t held_bytes = -1;  // bytes that the process holds on the device after this event; -1: the device is unknown
};

}  // namespace mlrun::model
