// SPDX-License-Identifier: Apache-2.0
// The table remote: requests to 9P, NFS and FUSE servers. A kernel side table like those of kernel_tables.h.
#pragma once

#include "runner/trace/kernel/kernel_tables.h"

namespace mlrun::trace {

struct RemoteRow {
  int64_t ts_ns = 0, end_ns = 0;
  model::Origin origin;
  int64_t call_id = 0, file_id = 0;
  mlrun_remote record{};
};

// The protocol's name of the operation in lower case; "type 7" if unknown.
std::string remote_op_name(const mlrun_remote& record);

class RemoteTable {
 public:
  using Row = RemoteRow;
  RemoteTable();
  void add(const RemoteRow& row, const GroupEnds& ends);
  ParquetTable& parquet() { return table_; }

 private:
  void add_message(const mlrun_remote& record);

  ParquetTable table_;
  SpanColumns span_;
  OwnerColumns owner_;
  LabelColumn& protocol_;
  TextColumn& op_;
  Int64Column &op_id_, &call_id_, &dev_, &ino_, &file_id_;
  Int32Column& err_;
  TextColumn &server_, &program_;
  Int32Column& version_;
  Int64Column &sent_, &received_, &queue_, &rtt_;
  Int32Column& transmissions_;
};

}  // namespace mlrun::trace
