// SPDX-License-Identifier: Apache-2.0
// The tables of the kernel side: block, block_part, wait (vfs: file_op_table.h). Rows are the records themselves;
// columns: TABLES.md. Each class accepts rows in any order within its window and writes them by end, in one file.
#pragma once

#include <string>

#include "runner/events/kernel_record.h"
#include "runner/model/rows.h"
#include "runner/parquet/parquet_table.h"
#include "runner/trace/rows/origin_columns.h"

namespace mlrun::trace {

struct RequestRow {
  int64_t ts_ns = 0, end_ns = 0;
  mlrun_block_request record{};
};

struct PartRow {
  int64_t ts_ns = 0, end_ns = 0;
  model::Origin origin;
  int64_t call_id = 0, file_id = 0;
  mlrun_block_part record{};
};

struct WaitRow {
  int64_t ts_ns = 0, end_ns = 0;
  model::Origin origin;
  mlrun_wait record{};
};

// proc_id, image_id, thread_id (null: the process was not recorded), pid, tid.
struct OwnerColumns {
  explicit OwnerColumns(ParquetTable& table);
  void add(const model::Origin& origin);
  Int32Column &proc_id, &image_id, &thread_id, &pid, &tid;
};

// end_min, end_max, ts, dur.
struct SpanColumns {
  explicit SpanColumns(ParquetTable& table);
  void add(int64_t ts_ns, int64_t end_ns, const GroupEnds& ends);
  Int64Column &end_min, &end_max, &ts, &dur;
};

class RequestTable {
 public:
  using Row = RequestRow;
  RequestTable();
  void add(const RequestRow& row, const GroupEnds& ends);
  ParquetTable& parquet() { return table_; }

 private:
  ParquetTable table_;
  SpanColumns span_;
  Int64Column &req_id_, &ts_insert_, &ts_issue_, &ts_done_, &dev_, &sector_, &bytes_;
  LabelColumn& op_;
  Int32Column &flags_, &err_, &issues_, &parts_, &done_pid_, &done_tid_, &cpu_;
  TextColumn& done_comm_;
};

class PartTable {
 public:
  using Row = PartRow;
  PartTable();
  void add(const PartRow& row, const GroupEnds& ends);
  ParquetTable& parquet() { return table_; }

 private:
  ParquetTable table_;
  SpanColumns span_;
  OwnerColumns owner_;
  TextColumn& comm_;
  Int64Column &req_id_, &op_id_, &call_id_, &dev_, &fs_dev_, &ino_, &file_id_, &bio_lo_, &bio_hi_, &sector_, &bytes_;
  LabelColumn& op_;
  Int32Column& flags_;
  Int64Column &ts_issue_, &cgroup_id_;
};

class WaitTable {
 public:
  using Row = WaitRow;
  WaitTable();
  void add(const WaitRow& row, const GroupEnds& ends);
  ParquetTable& parquet() { return table_; }

 private:
  ParquetTable table_;
  SpanColumns span_;
  OwnerColumns owner_;
  Int64Column &ts_wake_, &runq_ns_;
  LabelColumn& state_;
  BoolColumn &preempted_, &in_iowait_, &submitting_, &early_, &wake_lost_, &throttled_;
  Int64Column& op_id_;
  Int32Column &waker_tid_, &cpu_;
  Int64Column &waker_req_, &waker_age_;
};

}  // namespace mlrun::trace
