// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/collective_table.h"

namespace mlrun::trace {

namespace {

void put(Int64Column& column, const std::optional<int64_t>& value) { value ? column.add(*value) : column.add_null(); }

}  // namespace

Status CollectiveTable::open() {
  is_open_ = true;
  return table_.open_in(folder_);
}

Status CollectiveTable::add(const model::CollectiveRow& row) {
  if (folder_.empty()) return {};
  if (!is_open_) {
    if (auto opened = open(); !opened) return opened;
  }
  ts_.add(row.origin.ts_ns);
  dur_.add(row.dur_ns);
  proc_id_.add_unless(0, row.origin.proc_id);
  image_id_.add_unless(0, row.origin.image_id);
  thread_id_.add_unless(0, row.origin.thread_id);
  pid_.add_unless(0, row.origin.pid);
  tid_.add_unless(0, row.origin.tid);
  operation_.add(row.operation);
  communicator_.add_unless_empty(row.communicator);
  put(sequence_, row.sequence);
  bytes_.add(row.bytes);
  put(root_, row.root);
  put(peer_, row.peer);
  reduction_.add_unless_empty(row.reduction);
  put(rank_, row.rank);
  put(ranks_, row.ranks);
  open_.add(row.is_open);
  table_.row_added();
  return table_.full() ? table_.end_row_group() : Status();
}

Status CollectiveTable::close() {
  if (folder_.empty()) return {};
  if (!is_open_) {
    if (auto opened = open(); !opened) return opened;
  }
  if (auto closed = table_.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

}  // namespace mlrun::trace
