// SPDX-License-Identifier: Apache-2.0
// Which tables have a place on a time line, and what becomes of their columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/exchange/export.h"
#include "runner/exchange/links.h"
#include "runner/exchange/ordered_rows.h"

namespace mlrun::exchange {

enum class Place : uint8_t {
  kThread,   // the thread's own track
  kProcess,  // a track of its process
  kStream,   // a track of the GPU's stream
  kGpu,      // a track of the GPU
  kDevice,   // a track of the block device
  kRun,      // a track of the whole run
};

enum class Shape : uint8_t {
  kNested,   // slices of one track nest
  kApart,    // slices of one track neither overlap nor contain each other
  kCounter,  // every number of a row is a value of a counter
  kStack,    // samples of stacks
};

// A column that the event shows, by its name in `shown`.
struct Argument {
  size_t number = 0;  // among those of all tables, from 0
  std::string shown;
  size_t column = 0;
  std::shared_ptr<const view::IdNames> names = {};  // of ids: the names by id
  std::optional<int64_t> usual_number = {};         // this value is not shown
  std::string usual_text = {};
  bool is_address = false;
};

struct TableForm {
  const char* table;
  Shape shape;
  Place place;
  const char* track;        // name of the track, except of threads and streams
  const char* prefix;       // of the event's name
  const char* name_column;  // its text, or the name of its id, follows the prefix; nullptr: nothing does. Of counters:
                            // columns, separated by commas, whose values tell tracks apart
  Link out = Link::kNone;   // arrows begin here
  Link in = Link::kNone, other_in = Link::kNone;
};

// Indexes, in TimelineTable::columns, of columns that any table may have.
struct CommonColumns {
  size_t proc_id, thread_id, pid, tid, name, gpu_id, context, stream, dev, scope, text, stack_id;
  size_t op_id, call_id, req_id, correlation_id, gpu_file_id, batch_id, period_ns, bytes, size, track;
};

struct TimelineTable {
  size_t number = 0;  // among those of the export, from 0
  const TableForm* form = nullptr;
  std::vector<std::string> columns;  // to be read
  CommonColumns at = {};
  std::vector<Argument> arguments;  // of counters: the values
  std::vector<size_t> keys;         // of counters: places of the columns that tell tracks apart
  std::shared_ptr<const view::IdNames> names;
};

[[nodiscard]] std::span<const TableForm> timeline_forms();

// Requires: the trace has the table.
Result<TimelineTable> timeline_table(Export& job, const TableForm& form);

// Calls show(argument, row's values) for each argument of a row that has a value other than the usual one.
template <typename Show>
void for_each_argument(const TimelineTable& table, const OrderedRows& rows, Show show) {
  for (const Argument& argument : table.arguments) {
    const Values& values = rows.values(argument.column);
    if (values.is_null(rows.row())) continue;
    if (argument.usual_number && values.kind() == Values::Kind::kNumber &&
        values.number(rows.row()) == *argument.usual_number) {
      continue;
    }
    if (!argument.usual_text.empty() && values.kind() == Values::Kind::kText &&
        values.text(rows.row()) == argument.usual_text) {
      continue;
    }
    show(argument, values);
  }
}

}  // namespace mlrun::exchange
