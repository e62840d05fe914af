// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/memory_table.h"

#include "runner/parquet/row_columns.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

struct MemoryColumns {
  static constexpr const char* kTable = "sample_memory";
  static void visit(auto& visitor, const MemoryRow& row, const GroupEnds& /*ends*/) {
    visitor("ts", row.ts_ns, kDelta);
    visitor("buffers_bytes", util::capped(row.record.buffers_bytes));
    visitor("cached_bytes", util::capped(row.record.cached_bytes));
  }
};

template class RowTable<MemoryColumns, MemoryRow, GroupEnds>;

}  // namespace mlrun::trace
