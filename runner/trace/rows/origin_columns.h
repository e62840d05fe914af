// SPDX-License-Identifier: Apache-2.0
// The columns that every event table begins with, and the bounds of a row group's end times.
#pragma once

#include <cstdint>
#include <span>

#include "runner/model/rows.h"
#include "runner/parquet/parquet_table.h"

namespace mlrun::trace {

// Range of the end times of a row group: constant within it, so it takes almost no space, and its statistics let any
// reader skip row groups that ended before a moment.
struct GroupEnds {
  int64_t min_ns = 0, max_ns = 0;
};

// The columns that every event table begins with.
struct OriginColumns {
  explicit OriginColumns(ParquetTable& table);
  void add(const model::Origin& origin);
  // For rows that have an origin.
  template <typename Row>
  void add(std::span<const Row* const> rows);
  // For the row group that ends now.
  void set(const GroupEnds& ends);

  SameColumn &end_min, &end_max;
  Int64Column& ts;
  Int32Column &proc_id, &image_id, &thread_id, &pid, &tid;
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
