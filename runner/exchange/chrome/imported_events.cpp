// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/chrome/imported_events.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runner/exchange/json_text.h"

namespace mlrun::exchange {

namespace {

void append_member(std::string& line, const char* key, std::string_view text) {
  line += ",\"";
  line += key;
  line += "\":";
  append_json(line, text);
}

// Whether an imported JSON object is still one, and can be written as it is. Else it is written as a text.
bool is_object(std::string_view text) { return text.starts_with('{') && nlohmann::json::accept(text); }

}  // namespace

bool is_imported_table(std::string_view table) { return table == "slice" || table == "flow" || table == "counter"; }

ImportedColumns::ImportedColumns(const TimelineTable& table) {
  // A column that the table lacks, such as `track` of counters, gets the index of `req_id`, which is null in all these tables.
  const auto place = [&](const char* name) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    return found == table.columns.end() ? table.at.req_id : size_t(found - table.columns.begin());
  };
  name_ = place("name");
  category_ = place("category");
  args_ = place("args");
  other_ = place("other");
  track_ = place("track");
  series_ = place("series");
  value_ = place("value");
  flow_id_ = place("flow_id");
  id_text_ = place("id_text");
  step_ = place("step");
  binds_ = place("binds");
}

bool ImportedColumns::has_frame(const OrderedRows& row) const {
  return row.text(other_).find("\"sf\"") != std::string_view::npos;
}

void ImportedColumns::append_names(std::string& line, const OrderedRows& row) const {
  append_member(line, "name", row.text(name_));
  if (!row.is_null(category_)) append_member(line, "cat", row.text(category_));
}

void ImportedColumns::append_args(std::string& line, const OrderedRows& row) const {
  if (row.is_null(args_)) return;
  line += ",\"args\":";
  const std::string_view args = row.text(args_);
  if (is_object(args)) {
    line += args;
  } else {
    line += "{\"args\":";
    append_json(line, args);
    line += '}';
  }
}

// A track "ID@PROCESS" is local to its process.
void ImportedColumns::append_track(std::string& line, const OrderedRows& row) const {
  const std::string_view track = row.text(track_);
  const size_t process = track.rfind('@');
  if (process == std::string_view::npos) return append_member(line, "id", track);
  line += ",\"id2\":{\"local\":";
  append_json(line, track.substr(0, process));
  line += '}';
}

void ImportedColumns::append_slice(std::string& line, const OrderedRows& row) const {
  append_names(line, row);
  append_args(line, row);
  const std::string_view other = row.text(other_);
  const bool has_own =
      other.find("\"ph\"") != std::string_view::npos || other.find("\"dur\"") != std::string_view::npos;
  if (other.size() <= 2) return;
  if (!has_own && is_object(other)) {
    line += ',';
    line += other.substr(1, other.size() - 2);
  } else {
    append_member(line, "other", other);
  }
}

std::string_view ImportedColumns::phase_of_flow(const OrderedRows& row) const {
  const std::string_view step = row.text(step_);
  return step == "start" ? "s" : step == "step" ? "t" : "f";
}

void ImportedColumns::append_flow(std::string& line, const OrderedRows& row) const {
  append_names(line, row);
  if (row.is_null(id_text_)) {
    line += ",\"id\":";
    append_json(line, row.number(flow_id_));
  } else {
    append_member(line, "id", row.text(id_text_));
  }
  if (row.text(step_) == "end" && row.text(binds_) == "enclosing") line += ",\"bp\":\"e\"";
  append_args(line, row);
}

void ImportedColumns::append_counter(std::string& line, const OrderedRows& row) const {
  append_names(line, row);
  line += ",\"args\":{";
  append_json(line, row.text(series_));
  line += ':';
  append_json(line, row.values(value_).real(row.row()));
  line += '}';
}

}  // namespace mlrun::exchange
