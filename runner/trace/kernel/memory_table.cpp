// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/memory_table.h"

#include <algorithm>
#include <iterator>

#include "runner/parquet/row_columns.h"
#include "runner/trace/rows/memory_columns.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

struct MemoryColumns {
  static constexpr const char* kTable = "sample_memory";
  static void visit(auto& visitor, const MemoryRow& row, const GroupEnds& /*ends*/) {
    mlrun_memory_sample sample{};
    std::fill(std::begin(sample.values), std::end(sample.values), MLRUN_NOT_KNOWN);
    sample.node = -1;
    sample.values[MLRUN_MEMORY_BUFFERS_BYTES] = util::capped(row.record.buffers_bytes);
    sample.values[MLRUN_MEMORY_CACHED_BYTES] = util::capped(row.record.cached_bytes);
    visit_memory_columns(visitor, row.ts_ns, 0, sample);
  }
};

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::MemoryColumns, mlrun::trace::MemoryRow, mlrun::trace::GroupEnds>;
