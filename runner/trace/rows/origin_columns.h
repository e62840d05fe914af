// SPDX-License-Identifier: Apache-2.0
// The columns that event tables begin with, and the bounds of a row group's end times.
#pragma once

#include <cstdint>
#include <span>

#include "runner/model/rows.h"
#include "runner/parquet/row_table.h"

namespace mlrun::trace {

// Range of the end times of a row group: constant within it, so it takes almost no space, and its statistics let any
// reader skip row groups that ended before a moment.
struct GroupEnds {
  int64_t min_ns = 0, max_ns = 0;
};

// Parts of lists of columns (row_table.h): the row group's end times, a row's times, and its ids, of which 0 is unknown.
void visit_ends(auto& visitor, const GroupEnds& ends) {
  visitor.same("end_min", ends.min_ns);
  visitor.same("end_max", ends.max_ns);
}
void visit_span(auto& visitor, const auto& row, const GroupEnds& ends) {
  visitor("end_min", ends.min_ns);
  visitor("end_max", ends.max_ns);
  visitor("ts", row.ts_ns, tables::Encoding::kDelta);
  visitor("dur", row.end_ns - row.ts_ns, tables::Encoding::kSplit);
}
void visit_recorded_ids(auto& visitor, const model::Origin& origin) {
  visitor.optional("proc_id", origin.proc_id, 0);
  visitor.optional("image_id", origin.image_id, 0);
  visitor.optional("thread_id", origin.thread_id, 0);
}
// For tables of the kernel side, which has the pid and tid of unrecorded processes too.
void visit_owner(auto& visitor, const model::Origin& origin) {
  visit_recorded_ids(visitor, origin);
  visitor("pid", origin.pid);
  visitor("tid", origin.tid);
}
void visit_any_owner(auto& visitor, const model::Origin& origin) {
  visit_recorded_ids(visitor, origin);
  visitor.optional("pid", origin.pid, 0);
  visitor.optional("tid", origin.tid, 0);
}

// The columns that the tables `call` and `alloc` begin with.
struct OriginColumns {
  explicit OriginColumns(tables::ParquetTable& table);
  // For rows that have an origin.
  template <typename Row>
  void add(std::span<const Row* const> rows);
  // For the row group that ends now.
  void set(const GroupEnds& ends);

  tables::SameColumn &end_min, &end_max;
  tables::Int64Column& ts;
  tables::Int32Column &proc_id, &image_id, &thread_id, &pid, &tid;
};

template <typename Row>
void OriginColumns::add(std::span<const Row* const> rows) {
  const auto each = [&](auto& column, auto field) {
    column.add_each(rows.size(), [&](size_t i) { return rows[i]->origin.*field; });
  };
  each(ts, &model::Origin::ts_ns);
  each(proc_id, &model::Origin::proc_id);
  each(image_id, &model::Origin::image_id);
  each(thread_id, &model::Origin::thread_id);
  each(pid, &model::Origin::pid);
  each(tid, &model::Origin::tid);
}

}  // namespace mlrun::trace
