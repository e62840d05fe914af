// SPDX-License-Identifier: Apache-2.0
// The table torch_memory: allocations and releases by PyTorch's allocator of GPU memory. A table of the kernel side like
// those in kernel_tables.h.
#pragma once

#include <cstdint>
#include <optional>

#include "runner/events/kernel_record.h"
#include "runner/model/torch_memory.h"
#include "runner/trace/kernel/kernel_tables.h"

namespace mlrun::trace {

struct TorchMemoryTableRow {
  int64_t ts_ns = 0, end_ns = 0;
  model::TorchMemoryRow row;
  bool has_stream = true;  // whether the stream of an allocation is known
};

struct TorchMemoryColumns;
using TorchMemoryTable = tables::RowTable<TorchMemoryColumns, TorchMemoryTableRow, GroupEnds>;

// Makes a row from the probe's record. The caller fills in time, thread and held_bytes. nullopt: the probe is unknown or
// the device number invalid.
[[nodiscard]] std::optional<model::TorchMemoryRow> torch_memory_row(const mlrun_torch_memory& record);

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::TorchMemoryColumns, mlrun::trace::TorchMemoryTableRow,
                                              mlrun::trace::GroupEnds>;
