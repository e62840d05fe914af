// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/imported/imported_tables.h"

#include <array>

#include "runner/parquet/row_columns.h"

namespace mlrun::trace {

namespace {

using tables::kDelta;
using tables::kSplit;

constexpr std::array kSliceKinds = {"thread", "async", "frame", "object", "region", "syscall"};
constexpr std::array kFlowSteps = {"start", "step", "end"};
constexpr std::array kBindings = {"next", "enclosing"};

void visit_imported(auto& visitor, const model::Origin& origin, const GroupEnds& ends) {
  visit_ends(visitor, ends);
  visitor("ts", origin.ts_ns, kDelta);
  visit_any_owner(visitor, origin);
}

}  // namespace

struct SliceColumns {
  static constexpr const char* kTable = "slice";
  static void visit(auto& visitor, const model::SliceRow& row, const GroupEnds& ends) {
    visit_imported(visitor, row.origin, ends);
    visitor.optional("dur", row.dur_ns, -1, kSplit);
    visitor("slice_id", row.slice_id, kDelta);
    visitor.label("kind", row.kind, kSliceKinds);
    visitor("name", row.name);
    visitor.optional("category", row.category);
    visitor.optional("track", row.track);
    visitor.optional("stack_id", row.stack_id, 0);
    visitor.optional("args", row.args);
    visitor.optional("other", row.other);
  }
};

struct FlowColumns {
  static constexpr const char* kTable = "flow";
  static void visit(auto& visitor, const model::FlowRow& row, const GroupEnds& ends) {
    visit_imported(visitor, row.origin, ends);
    visitor("flow_id", row.flow_id, kSplit);
    visitor.label("step", row.step, kFlowSteps);
    visitor.label("binds", row.binds_enclosing, kBindings);
    visitor("name", row.name);
    visitor.optional("category", row.category);
    visitor.optional("id_text", row.id_text);
    visitor.optional("args", row.args);
  }
};

struct CounterColumns {
  static constexpr const char* kTable = "counter";
  static void visit(auto& visitor, const model::CounterRow& row, const GroupEnds& ends) {
    visit_imported(visitor, row.origin, ends);
    visitor("name", row.name);
    visitor.optional("series", row.series);
    visitor.optional("category", row.category);
    visitor("value", row.value);
  }
};

struct StackSampleColumns {
  static constexpr const char* kTable = "stack_sample";
  static void visit(auto& visitor, const model::StackSampleRow& row, const GroupEnds& ends) {
    visit_imported(visitor, row.origin, ends);
    visitor.optional("cpu", row.cpu, -1);
    visitor("event", row.event);
    visitor.optional("period", row.period, -1);
    visitor.optional("stack_id", row.stack_id, 0);
    visitor.optional("args", row.args);
  }
};

struct OtherEventColumns {
  static constexpr const char* kTable = "import_event";
  static void visit(auto& visitor, const model::OtherEventRow& row, const GroupEnds& ends) {
    visit_ends(visitor, ends);
    visitor.optional("ts", tables::value_if(row.has_time, row.origin.ts_ns), kDelta);
    visit_any_owner(visitor, row.origin);
    visitor.optional("dur", row.dur_ns, -1);
    visitor("kind", row.kind);
    visitor.optional("name", row.name);
    visitor.optional("category", row.category);
    visitor.optional("id", row.id);
    visitor.optional("stack_id", row.stack_id, 0);
    visitor.optional("args", row.args);
  }
};

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::SliceColumns, mlrun::model::SliceRow, mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::FlowColumns, mlrun::model::FlowRow, mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::CounterColumns, mlrun::model::CounterRow, mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::StackSampleColumns, mlrun::model::StackSampleRow,
                                       mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::OtherEventColumns, mlrun::model::OtherEventRow,
                                       mlrun::trace::GroupEnds>;
