// SPDX-License-Identifier: Apache-2.0
// The table of collectives: one file, in order of their ends.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "runner/model/collective.h"
#include "runner/parquet/parquet_table.h"

namespace mlrun::trace {

class CollectiveTable {
 public:
  // Without a folder nothing is written.
  void write_to(std::string tables_folder) { folder_ = std::move(tables_folder); }
  Status add(const model::CollectiveRow& row);
  Status close();
  ParquetTable& parquet() { return table_; }

 private:
  Status open();

  std::string folder_;
  bool is_open_ = false;
  ParquetTable table_{"collective"};
  Int64Column& ts_ = table_.int64("ts", Encoding::kDelta);
  Int64Column& dur_ = table_.int64("dur", Encoding::kSplit);
  Int32Column& proc_id_ = table_.optional_int32("proc_id");
  Int32Column& image_id_ = table_.optional_int32("image_id");
  Int32Column& thread_id_ = table_.optional_int32("thread_id");
  Int32Column& pid_ = table_.optional_int32("pid");
  Int32Column& tid_ = table_.optional_int32("tid");
  TextColumn& operation_ = table_.text("operation");
  TextColumn& communicator_ = table_.optional_text("communicator");
  Int64Column& sequence_ = table_.optional_int64("sequence", Encoding::kDelta);
  Int64Column& bytes_ = table_.int64("bytes");
  Int64Column& root_ = table_.optional_int64("root");
  Int64Column& peer_ = table_.optional_int64("peer");
  TextColumn& reduction_ = table_.optional_text("reduction");
  Int64Column& rank_ = table_.optional_int64("rank");
  Int64Column& ranks_ = table_.optional_int64("ranks");
  BoolColumn& open_ = table_.boolean("open");
};

}  // namespace mlrun::trace
