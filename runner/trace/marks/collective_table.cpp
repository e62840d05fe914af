// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/collective_table.h"

#include "runner/parquet/row_columns.h"
#include "runner/trace/rows/origin_columns.h"

namespace mlrun::trace {

using tables::kDelta;
using tables::kSplit;

struct CollectiveColumns {
  static constexpr const char* kTable = "collective";
  static void visit(auto& visitor, const model::CollectiveRow& row) {
    visitor("ts", row.origin.ts_ns, kDelta);
    visitor("dur", row.dur_ns, kSplit);
    visit_any_owner(visitor, row.origin);
    visitor("operation", row.operation);
    visitor.optional("communicator", row.communicator);
    visitor.optional("sequence", row.sequence, kDelta);
    visitor("bytes", row.bytes);
    visitor.optional("root", row.root);
    visitor.optional("peer", row.peer);
    visitor.optional("reduction", row.reduction);
    visitor.optional("rank", row.rank);
    visitor.optional("ranks", row.ranks);
    visitor("open", row.is_open);
  }
};

Status CollectiveTable::open() {
  if (is_open_) return {};
  is_open_ = true;
  return table_.open_in(folder_);
}

Status CollectiveTable::add(const model::CollectiveRow& row) {
  if (folder_.empty()) return {};
  if (Status opened = open(); !opened) return opened;
  table_.add(row);
  return table_.end_full_group();
}

Status CollectiveTable::close() {
  if (folder_.empty()) return {};
  if (Status opened = open(); !opened) return opened;
  return table_.close();
}

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::CollectiveColumns, mlrun::model::CollectiveRow>;
