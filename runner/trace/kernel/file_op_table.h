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

struct FileOpColumns;
using FileOpTable = tables::RowTable<FileOpColumns, FileOpRow, GroupEnds>;

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::FileOpColumns, mlrun::trace::FileOpRow,
                                              mlrun::trace::GroupEnds>;
