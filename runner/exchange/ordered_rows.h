// SPDX-License-Identifier: Apache-2.0
// The rows of a table that are exported, by begin; of rows with the same begin the longer first, so that it encloses the others.
//
// A table is stored roughly by end, so a long row comes long after the rows that began with it. So a first pass reads only the begins.
// If there are early rows, which began long before their neighbours, a second pass keeps these in memory. The last pass streams the
// other rows. In memory: two or three batches, and the early rows (a few for each thread and batch).
//
// A merged trace has the rows of one node after those of another: each node is read by itself.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runner/exchange/export.h"
#include "runner/exchange/values.h"
#include "runner/parquet/table_reader.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

class OrderedRows {
 public:
  // `columns`: the columns that the caller reads, by index in this list; a column that the table lacks is null. A table that the
  // trace lacks has no rows. Makes the first pass. `node_id`: a node of a merged trace; 0: all nodes, one after the other.
  static Result<OrderedRows> open(Export& job, const std::string& table, std::vector<std::string> columns,
                                  int64_t node_id = 0);

  // The next row becomes the current one; false: there is none.
  Result<bool> next();

  [[nodiscard]] const std::string& table() const { return table_; }
  [[nodiscard]] int64_t ts() const { return current_.ts; }
  [[nodiscard]] int64_t end() const { return current_.end; }  // ts if `dur` is null
  [[nodiscard]] bool has_duration() const { return current_.has_duration; }
  // The current row's value of a column.
  [[nodiscard]] const Values& values(size_t column) const { return (*current_.fields)[column]; }
  [[nodiscard]] bool is_null(size_t column) const { return values(column).is_null(current_.row); }
  [[nodiscard]] int64_t number(size_t column) const { return values(column).number(current_.row); }
  [[nodiscard]] std::string_view text(size_t column) const { return values(column).text(current_.row); }
  [[nodiscard]] int64_t row() const { return current_.row; }  // its index in values()
  // Rows of the table.
  [[nodiscard]] int64_t all() const { return all_rows_; }
  // Rows of the table that --from, --until and --process leave out. Requires: next() was false.
  [[nodiscard]] int64_t unwanted() const { return all_rows_ - wanted_rows_; }

 private:
  struct Place {
    int64_t ts = 0, end = 0;
    const std::vector<Values>* fields = nullptr;
    int64_t row = 0;
    bool has_duration = false;
  };
  struct Unit {  // a batch
    std::unique_ptr<std::vector<Values>> fields;
    std::vector<Place> places;  // rows in order
    size_t next = 0;
  };

  OrderedRows(Export& job, std::string table, std::vector<std::string> columns, std::vector<int64_t> nodes);
  Status open_table(int64_t node_id);
  // Continues with the next node that has rows. False: there is none.
  Result<bool> open_node();
  Result<tables::TableReader> reader(std::vector<std::string> columns, bool reads_ahead) const;
  Status scan_begins();
  Status keep_early_rows();
  // Rows of unit `number` that the export wants; early ones if `early`, else the others.
  [[nodiscard]] Unit unit_of(const arrow::RecordBatch& rows, size_t number, bool early) const;
  // Rows of unit `number` that begin before this time are early.
  [[nodiscard]] int64_t floor_of(size_t number) const;
  Status load_unit();

  Export* job_;
  std::string table_;
  std::vector<std::string> columns_, stored_;  // asked for; read: ts, dur, proc_id and these, if the table has them
  std::vector<int64_t> nodes_;                 // that are read
  size_t next_node_ = 0;
  int64_t node_id_ = 0;
  std::vector<int64_t> latest_;  // by unit: the latest begin in it and all units before it
  int64_t early_rows_ = 0, all_rows_ = 0, wanted_rows_ = 0;
  std::vector<Unit> early_units_;
  std::vector<Place> early_;
  size_t next_early_ = 0;
  std::deque<Unit> loaded_;
  size_t next_unit_ = 0;
  std::unique_ptr<tables::TableReader> stream_;
  Place current_;
};

}  // namespace mlrun::exchange
