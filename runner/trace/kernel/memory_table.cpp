// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/memory_table.h"

#include <algorithm>

#include "runner/util/saturating.h"

namespace mlrun::trace {

MemoryTable::MemoryTable()
    : table_("sample_memory"),
      ts_(table_.int64("ts", Encoding::kDelta)),
      buffers_bytes_(table_.int64("buffers_bytes")),
      cached_bytes_(table_.int64("cached_bytes")) {}

void MemoryTable::add(const MemoryRow& row, const GroupEnds& /*ends*/) {
  ts_.add(row.ts_ns);
  buffers_bytes_.add(util::capped(row.record.buffers_bytes));
  cached_bytes_.add(util::capped(row.record.cached_bytes));
  table_.row_added();
}

}  // namespace mlrun::trace
