// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/rows/origin_columns.h"

namespace mlrun::trace {

OriginColumns::OriginColumns(tables::ParquetTable& table)
    : end_min(table.same_int64("end_min")),
      end_max(table.same_int64("end_max")),
      ts(table.int64("ts", tables::Encoding::kDelta)),
      proc_id(table.int32("proc_id")),
      image_id(table.int32("image_id")),
      thread_id(table.int32("thread_id")),
      pid(table.int32("pid")),
      tid(table.int32("tid")) {}

void OriginColumns::set(const GroupEnds& ends) {
  end_min.set(ends.min_ns);
  end_max.set(ends.max_ns);
}

}  // namespace mlrun::trace
