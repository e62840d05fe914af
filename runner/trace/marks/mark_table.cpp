// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/mark_table.h"

#include "runner/parquet/row_columns.h"

namespace mlrun::trace {

using tables::kDelta;

struct MarkColumns {
  static constexpr const char* kTable = "mark";
  static void visit(auto& visitor, const model::MarkRow& row, const GroupEnds& /*ends*/) {
    visitor("mark_id", row.mark_id, kDelta);
    visitor("ts", row.origin.ts_ns, kDelta);
    visit_any_owner(visitor, row.origin);
    visitor.optional("dur", row.dur_ns, -1);
    visitor("domain", row.domain);
    visitor.optional("name_id", row.name_id, 0);
    visitor.optional("text", row.name_id == 0 ? std::string_view(row.name) : std::string_view());
    visitor.optional("value", row.value);
    visitor("scope", row.scope);
    visitor("open", row.is_open);
    visitor("error_ns", row.error_ns);
  }
};

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::MarkColumns, mlrun::model::MarkRow, mlrun::trace::GroupEnds>;
