// SPDX-License-Identifier: Apache-2.0
// The table sample_memory: the machine's memory use while the kernel side recorded; a table like those of
// kernel_tables.h.
#pragma once

#include <cstdint>

#include "runner/events/kernel_record.h"
#include "runner/trace/kernel/kernel_tables.h"

namespace mlrun::trace {

struct MemoryRow {
  int64_t ts_ns = 0, end_ns = 0;
  mlrun_memory_seen record{};
};

struct MemoryColumns;
using MemoryTable = tables::RowTable<MemoryColumns, MemoryRow, GroupEnds>;

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::MemoryColumns, mlrun::trace::MemoryRow,
                                              mlrun::trace::GroupEnds>;
