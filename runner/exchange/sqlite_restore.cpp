// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/sqlite_restore.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/model/run.h"
#include "runner/parquet/parquet_table.h"
#include "runner/parquet/trace_condition.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

using nlohmann::json;

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

// A column of a table of the trace, by the type that the database says it has.
class RestoredColumn {
 public:
  // False: no column of a trace has this type.
  bool declare(const std::string& name, const std::string& type, bool has_nulls, tables::ParquetTable& table) {
    const auto presence = has_nulls ? tables::Presence::kSometimes : tables::Presence::kAlways;
    if (type == "INTEGER") wide_ = &table.int64(name, tables::Encoding::kDictionary, presence);
    if (type == "INT") narrow_ = &table.int32(name, tables::Encoding::kDictionary, presence);
    if (type == "REAL") real_ = &table.real(name, presence);
    if (type == "BOOLEAN") flag_ = &table.boolean(name);
    if (type == "TEXT") text_ = &table.text(name, presence);
    if (type == "BLOB") text_ = &table.optional_bytes(name);
    is_bytes_ = type == "BLOB";
    return wide_ != nullptr || narrow_ != nullptr || real_ != nullptr || flag_ != nullptr || text_ != nullptr;
  }
  void add(const SQLite::Column& value) {
    const bool is_null = value.isNull();
    if (wide_ != nullptr) is_null ? wide_->add_null() : wide_->add(value.getInt64());
    if (narrow_ != nullptr) is_null ? narrow_->add_null() : narrow_->add(value.getInt());
    if (real_ != nullptr) is_null ? real_->add_null() : real_->add(value.getDouble());
    if (flag_ != nullptr) flag_->add(!is_null && value.getInt() != 0);
    if (text_ != nullptr) is_null ? text_->add_null() : add_text(value.getString());
  }

 private:
  void add_text(const std::string& text) {
    text_->add(is_bytes_ || util::is_utf8(text) ? text : util::escaped_utf8(text));
  }

  tables::Int64Column* wide_ = nullptr;
  tables::Int32Column* narrow_ = nullptr;
  tables::DoubleColumn* real_ = nullptr;
  tables::BoolColumn* flag_ = nullptr;
  tables::TextColumn* text_ = nullptr;
  bool is_bytes_ = false;
};

class Restored {
 public:
  Restored(const std::string& path, std::string folder)
      : path_(path), folder_(std::move(folder)), base_(path, SQLite::OPEN_READONLY) {}

  Status run() {
    json run = util::parse_json(base_.execAndGet("SELECT json FROM run_json").getString());
    if (!run.is_object()) return damaged("its table run_json holds no JSON object");
    if (auto known = tables::check_schema_version(path_, run); !known) return known;
    is_merged_ = run.contains("merged");
    std::vector<std::string> tables;
    SQLite::Statement names(base_, "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'run_json'");
    while (names.executeStep()) tables.push_back(names.getColumn(0).getString());
    for (const std::string& table : tables) {
      if (!is_plain_name(table)) return damaged("the name of a table is " + util::printable(table));
      if (auto written = restore(table); !written) return written;
    }
    run["tables"] = tables::table_files(folder_ + "/tables");
    return model::write_run(run, folder_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> damaged(const std::string& what) const {
    return fail(fmt::format("cannot import {}: {}; export the trace again", path_, what));
  }

  // The columns of a table, and the indexes of special ones.
  struct Shape {
    std::vector<RestoredColumn> columns;
    std::optional<int> end_min, end_max, node_id;
  };

  Status declare(const std::string& name, tables::ParquetTable& table, Shape& shape) {
    SQLite::Statement info(base_, fmt::format("PRAGMA table_info(\"{}\")", name));
    while (info.executeStep()) {
      const std::string column = info.getColumn("name").getString(), type = info.getColumn("type").getString();
      const auto place = int(shape.columns.size());
      if (column == "end_min") shape.end_min = place;
      if (column == "end_max") shape.end_max = place;
      // Tables of a merged trace have a file for each node, except the tables about the nodes themselves.
      if (column == "node_id" && is_merged_ && !name.starts_with("node")) shape.node_id = place;
      const bool has_nulls = info.getColumn("notnull").getInt() == 0;
      if (!is_plain_name(column) || !shape.columns.emplace_back().declare(column, type, has_nulls, table)) {
        return damaged(fmt::format("table {}: column {} cannot be of type {}", name, util::printable(column),
                                   util::printable(type)));
      }
    }
    return {};
  }

  Status restore(const std::string& name) {
    const std::string folder = folder_ + "/tables/" + (name == "access_sample" ? "access" : name);
    tables::ParquetTable table(name == "access_sample" ? "access" : name);
    Shape shape;
    if (auto declared = declare(name, table, shape); !declared) return declared;
    if (Status made = util::make_folders(folder); !made) return made;
    SQLite::Statement rows(base_, fmt::format("SELECT * FROM \"{}\" ORDER BY rowid", name));
    const auto number = [&](std::optional<int> place) { return place ? rows.getColumn(*place).getInt64() : 0; };
    std::pair<int64_t, int64_t> last;  // end_min, end_max: the same in all rows of a row group
    int64_t file = -1;
    while (rows.executeStep()) {
      const int64_t of_row = std::max<int64_t>(number(shape.node_id) - 1, 0);
      const std::pair ends(number(shape.end_min), number(shape.end_max));
      if (file != of_row) {
        if (auto begun = begin(table, folder, file, of_row); !begun) return begun;
        file = of_row;
      } else if (ends != last || table.full()) {
        if (auto ended = table.end_row_group(); !ended) return ended;
      }
      last = ends;
      for (size_t i = 0; i < shape.columns.size(); ++i) shape.columns[i].add(rows.getColumn(int(i)));
      table.row_added();
    }
    if (file < 0) {
      if (auto begun = begin(table, folder, -1, 0); !begun) return begun;
    }
    if (auto closed = table.close(); !closed) return tl::make_unexpected(closed.error());
    return {};
  }

  // Ends the file that is open, unless `open` is below 0, and begins the next.
  static Status begin(tables::ParquetTable& table, const std::string& folder, int64_t open, int64_t next) {
    if (open >= 0) {
      if (auto closed = table.close(); !closed) return tl::make_unexpected(closed.error());
    }
    return table.open(fmt::format("{}/part-{:05}.parquet", folder, next));
  }

  const std::string& path_;
  std::string folder_;
  SQLite::Database base_;
  bool is_merged_ = false;
};

}  // namespace

bool is_own_database(const std::string& path) try {
  if (!std::filesystem::is_regular_file(path)) return false;  // opening a pipe would block
  const SQLite::Database base(path, SQLite::OPEN_READONLY);
  return base.tableExists("run_json");
} catch (const std::exception&) {
  return false;
}

Status restore_trace(const std::string& path, const std::string& folder) try {
  return Restored(path, folder).run();
} catch (const SQLite::Exception& error) {
  return fail(fmt::format("cannot import {}: damaged: {}", path, error.what()));
}

}  // namespace mlrun::exchange
