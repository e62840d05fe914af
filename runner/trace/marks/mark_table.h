// SPDX-License-Identifier: Apache-2.0
// The table of marks: those of programs, a table file per slice of time, and those of logs, in a table file of their
// own.
#pragma once

#include "runner/model/rows.h"
#include "runner/parquet/parquet_table.h"

namespace mlrun::trace {

struct GroupEnds;

class MarkTable {
 public:
  // Requires: rows have a name_id, or their name because there were too many names.
  void add(const model::MarkRow& row);
  void set(const GroupEnds&) {}  // the table has no columns for the bounds of its row groups
  ParquetTable& parquet() { return table_; }

 private:
  ParquetTable table_{"mark"};
  Int64Column& mark_id_ = table_.int64("mark_id", Encoding::kDelta);
  Int64Column& ts_ = table_.int64("ts", Encoding::kDelta);
  Int32Column& proc_id_ = table_.optional_int32("proc_id");
  Int32Column& image_id_ = table_.optional_int32("image_id");
  Int32Column& thread_id_ = table_.optional_int32("thread_id");
  Int32Column& pid_ = table_.optional_int32("pid");
  Int32Column& tid_ = table_.optional_int32("tid");
  Int64Column& dur_ = table_.optional_int64("dur");
  TextColumn& domain_ = table_.text("domain");
  Int64Column& name_id_ = table_.optional_int64("name_id");
  TextColumn& text_ = table_.optional_text("text");
  TextColumn& value_ = table_.optional_text("value");
  TextColumn& scope_ = table_.text("scope");
  BoolColumn& open_ = table_.boolean("open");
  Int64Column& error_ns_ = table_.int64("error_ns");
};

}  // namespace mlrun::trace
