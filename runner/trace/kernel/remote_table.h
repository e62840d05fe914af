// SPDX-License-Identifier: Apache-2.0
// The table remote: requests to 9P, NFS and FUSE servers. A kernel side table like those of kernel_tables.h.
#pragma once

#include <string>

#include "runner/trace/kernel/kernel_tables.h"

namespace mlrun::trace {

struct RemoteRow {
  int64_t ts_ns = 0, end_ns = 0;
  model::Origin origin;
  int64_t call_id = 0, file_id = 0;
  mlrun_remote record{};
};

// The protocol's name of the operation in lower case; "type 7" if the number is unknown.
std::string remote_op_name(const mlrun_remote& record);

struct RemoteColumns;
using RemoteTable = tables::RowTable<RemoteColumns, RemoteRow, GroupEnds>;

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::RemoteColumns, mlrun::trace::RemoteRow,
                                              mlrun::trace::GroupEnds>;
