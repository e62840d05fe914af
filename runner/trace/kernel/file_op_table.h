// SPDX-License-Identifier: Apache-2.0
// The table vfs: the kernel's file operations. A kernel side table like those of kernel_tables.h.
#pragma once

#include <optional>

#include "runner/model/call_split.h"
#include "runner/trace/kernel/completions.h"
#include "runner/trace/kernel/kernel_tables.h"
#include "runner/trace/kernel/page_adds.h"

namespace mlrun::trace {

struct FileOpRow {
  int64_t ts_ns = 0, end_ns = 0;
  model::Origin origin;
  int64_t call_id = 0, file_id = 0, file2_id = 0, gpu_file_id = 0;
  mlrun_file_op record{};
  std::optional<Completion> done;  // of an asynchronous operation; nullopt: completion not recorded
  std::optional<model::CallSplit> split;
  std::optional<ReadPages> pages;
};

class FileOpTable {
 public:
  using Row = FileOpRow;
  FileOpTable();
  void add(const FileOpRow& row, const GroupEnds& ends);
  ParquetTable& parquet() { return table_; }

 private:
  void add_split(const std::optional<model::CallSplit>& split);

  ParquetTable table_;
  SpanColumns span_;
  OwnerColumns owner_;
  Int64Column &op_id_, &outer_op_id_;
  Int32Column& depth_;
  Int64Column& call_id_;
  LabelColumn& op_;
  Int64Column &dev_, &ino_, &file_id_, &offset_, &requested_, &ret_, &ts_done_;
  Int32Column &err_, &flags_, &cpu_;
  Int64Column &vfs_, &runq_, &queue_, &device_, &device_shared_, &remote_, &wait_, &gpu_file_id_, &miss_pages_,
      &ra_pages_, &dirty_new_pages_, &file2_id_;
};

}  // namespace mlrun::trace
