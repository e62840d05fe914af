// SPDX-License-Identifier: Apache-2.0
// Rows that were imported, mostly from Chrome's format, as the events that they were: with their own categories, arguments and ids.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runner/exchange/ordered_rows.h"
#include "runner/exchange/timeline_tables.h"

namespace mlrun::exchange {

// The columns of `slice`, `flow` and `counter`.
class ImportedColumns {
 public:
  explicit ImportedColumns(const TimelineTable& table);

  // Whether a slice is on a track with an id (of an asynchronous operation or an object), rather than on its thread's.
  [[nodiscard]] bool has_track(const OrderedRows& row) const { return !row.is_null(track_); }
  // Whether the column `other` of a slice has the member "sf", its stack frame.
  [[nodiscard]] bool has_frame(const OrderedRows& row) const;
  // Appends the member for the id of a slice's track, after a comma.
  void append_track(std::string& line, const OrderedRows& row) const;
  // Name, category, arguments and further members of a slice.
  void append_slice(std::string& line, const OrderedRows& row) const;
  void append_names(std::string& line, const OrderedRows& row) const;
  // The phase of an arrow's end; append_flow() appends the members after its time.
  [[nodiscard]] std::string_view phase_of_flow(const OrderedRows& row) const;
  void append_flow(std::string& line, const OrderedRows& row) const;
  // The members of one value of a counter.
  void append_counter(std::string& line, const OrderedRows& row) const;

 private:
  void append_args(std::string& line, const OrderedRows& row) const;

  size_t name_, category_, args_, other_, track_, series_, value_, flow_id_, id_text_, step_, binds_;
};

// Whether rows of this table can only be imported events.
[[nodiscard]] bool is_imported_table(std::string_view table);

}  // namespace mlrun::exchange
