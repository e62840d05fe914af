// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/mark_table.h"

namespace mlrun::trace {

void MarkTable::add(const model::MarkRow& row) {
  mark_id_.add(row.mark_id);
  ts_.add(row.origin.ts_ns);
  proc_id_.add_unless(0, row.origin.proc_id);
  image_id_.add_unless(0, row.origin.image_id);
  thread_id_.add_unless(0, row.origin.thread_id);
  pid_.add_unless(0, row.origin.pid);
  tid_.add_unless(0, row.origin.tid);
  dur_.add_unless(-1, row.dur_ns);
  domain_.add(row.domain);
  name_id_.add_unless(0, row.name_id);
  text_.add_unless_empty(row.name_id == 0 ? row.name : std::string());
  value_.add_unless_empty(row.value);
  scope_.add(row.scope);
  open_.add(row.is_open);
  error_ns_.add(row.error_ns);
  table_.row_added();
}

}  // namespace mlrun::trace
