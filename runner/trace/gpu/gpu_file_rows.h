// SPDX-License-Identifier: Apache-2.0
// Makes rows of gpu_file from records of libcufile's calls, with the numbers that GpuFileCalls gave them in an earlier
// pass over the spool. Rows are written in order of their end, so the row of a batch operation waits for the call that
// returned its result.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "runner/summary/meters/builder.h"
#include "runner/trace/files/files_by_inode.h"
#include "runner/trace/gpu/gpu_file_batches.h"
#include "runner/trace/gpu/gpu_file_calls.h"
#include "runner/trace/gpu/gpu_file_table.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/rows/ordered_table.h"

namespace mlrun::trace {

class GpuFileRows {
 public:
  struct Sources {
    const GpuFileCalls& calls;
    GpuFileGaps& gaps;
    ThreadFinder& threads;
    FilesByInode& inodes;
    summary::Builder& builder;
    bool posix_is_counted;  // libcufile's own reads and writes count as calls or operations already
  };
  explicit GpuFileRows(const Sources& sources) : from_(sources) {}

  Status open(const std::string& tables_folder) { return table_.open(tables_folder); }
  void add(const mlrun_cufile_part& part) { parts_.add(part); }
  // False: this version does not know the function.
  Result<bool> add(const mlrun_cufile_call& record);
  Status close();

  [[nodiscard]] int64_t count() const { return table_.count(); }

 private:
  void complete(GpuFileTableRow& of_table, int64_t number);
  void add_operations(const GpuFileTableRow& call, std::string_view array);
  Status add_operations_until(int64_t ns);
  Status add_to_tables(const GpuFileTableRow& of_table);

  Sources from_;
  OrderedTable<GpuFileTable> table_;
  CufileParts parts_;
  std::multimap<int64_t, GpuFileTableRow> open_operations_;  // of batches, by end
  int64_t number_ = 0;
};

}  // namespace mlrun::trace
