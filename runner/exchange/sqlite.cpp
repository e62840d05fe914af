// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/sqlite.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/exchange/each_row.h"
#include "runner/exchange/export.h"
#include "runner/exchange/values.h"
#include "runner/parquet/table_batches.h"
#include "runner/util/json_at.h"

namespace mlrun::exchange {

namespace {

// No journal is needed: nothing else reads the database before it is renamed, and a failed export is removed.
constexpr const char* kPragmas =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -32768;";

std::string quoted(const std::string& name) { return '"' + name + '"'; }

// The declared type of a column, from which sqlite_restore.cpp gets the trace's type. For SQLite itself INT and BOOLEAN are numbers.
std::string sqlite_type(const arrow::Field& field) {
  const auto named = [&](const char* type) { return std::string(type) + (field.nullable() ? "" : " NOT NULL"); };
  switch (field.type()->id()) {
    case arrow::Type::DOUBLE: return "REAL";  // may be null: SQLite stores NaN as NULL
    case arrow::Type::STRING:
    case arrow::Type::DICTIONARY: return named("TEXT");
    case arrow::Type::BINARY: return named("BLOB");
    case arrow::Type::INT32: return named("INT");
    case arrow::Type::BOOL: return named("BOOLEAN");
    default: return named("INTEGER");
  }
}

void bind_value(SQLite::Statement& insert, int place, const Values& values, int64_t row, bool is_blob) {
  if (values.is_null(row)) return insert.bind(place);
  switch (values.kind()) {
    case Values::Kind::kNumber: return insert.bind(place, values.number(row));
    case Values::Kind::kReal: return insert.bind(place, values.real(row));
    case Values::Kind::kBoolean: return insert.bind(place, values.boolean(row) ? 1 : 0);
    case Values::Kind::kText: {
      const std::string_view text = values.text(row);
      if (is_blob) return insert.bind(place, text.data(), int(text.size()));
      return insert.bind(place, std::string(text));
    }
    case Values::Kind::kNone: return insert.bind(place);
  }
}

class SqliteExport {
 public:
  explicit SqliteExport(Export& job)
      : job_(job), database_(job.output(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
    database_.exec(kPragmas);
  }

  Status run() {
    const auto tables = tables::list_tables(job_.trace_folder());
    if (!tables) return tl::make_unexpected(tables.error());
    for (const std::string& table : *tables) {
      if (!job_.has_table(table)) continue;
      if (auto written = write_table(table); !written) return written;
    }
    database_.exec("CREATE TABLE run_json (json TEXT NOT NULL)");
    SQLite::Statement insert(database_, "INSERT INTO run_json VALUES (?)");
    insert.bind(1, util::json_text(*job_.run().document));
    insert.exec();
    add_views();
    return {};
  }

 private:
  Status write_table(const std::string& table) {
    auto reader = tables::TableReader::open(job_.trace_folder(), table,
                                            {.columns = {}, .from_ns = job_.from_ns(), .to_ns = job_.until_ns()});
    if (!reader) return tl::make_unexpected(reader.error());
    std::string columns, marks;
    const auto schema = reader->schema();
    for (const auto& field : schema->fields()) {
      columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", quoted(field->name()), sqlite_type(*field));
      marks += marks.empty() ? "?" : ", ?";
    }
    // The name `access` is Heimdallr's, for a view of this table.
    const std::string name = quoted(table == "access" ? "access_sample" : table);
    SQLite::Transaction transaction(database_);
    database_.exec(fmt::format("CREATE TABLE {} ({})", name, columns));
    SQLite::Statement insert(database_, fmt::format("INSERT INTO {} VALUES ({})", name, marks));
    int64_t rows = 0;
    Status written =
        tables::for_each_batch(*reader, [&](const arrow::RecordBatch& batch) { rows += write_batch(batch, insert); });
    if (!written) return written;
    transaction.commit();
    const auto all = rows_in(job_, table);
    if (!all) return tl::make_unexpected(all.error());
    job_.account().wrote(table, rows, rows);
    job_.account().left_out(table, kNotWanted, *all - rows);
    return {};
  }

  // Tables that define ids are written whole: they have no `ts`.
  int64_t write_batch(const arrow::RecordBatch& batch, SQLite::Statement& insert) {
    std::vector<Values> fields;
    std::vector<bool> is_blob;
    for (const auto& field : batch.schema()->fields()) {
      fields.emplace_back(batch, field->name().c_str());
      is_blob.push_back(field->type()->id() == arrow::Type::BINARY);
    }
    const Values ts(batch, "ts"), dur(batch, "dur"), proc_id(batch, "proc_id");
    const bool has_time = ts.kind() == Values::Kind::kNumber;
    int64_t rows = 0;
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      if (has_time && (!job_.wants_time(ts.number(row), ts.number(row) + dur.number(row)) ||
                       !job_.wants_process(proc_id.number(row)))) {
        continue;
      }
      for (size_t i = 0; i < fields.size(); ++i) bind_value(insert, int(i) + 1, fields[i], row, is_blob[i]);
      insert.exec();
      insert.reset();
      ++rows;
    }
    return rows;
  }

  // Heimdallr has one address space a run, so that each process is a run here. Times count from the start of the command.
  void add_views() {
    const auto has = [&](const char* table) { return job_.has_table(table); };
    const std::string cpu_time =
        has("sample_thread") ? "(SELECT coalesce(sum({0}), 0) FROM sample_thread s WHERE s.proc_id = p.proc_id)" : "0";
    const std::string rss = has("sample_process")
                                ? "(SELECT max(rss_bytes) / 1024 FROM sample_process s WHERE s.proc_id = p.proc_id)"
                                : "NULL";
    if (has("process"))
      database_.exec(fmt::format(
          "CREATE VIEW runs AS SELECT proc_id AS id, command AS prog, 'mlrun' AS mode, proc_id AS run, {} AS utime_ns, "
          "{} AS stime_ns, last - first AS wtime_ns, {} AS max_rss FROM process p",
          fmt::format(fmt::runtime(cpu_time), "utime_ns"), fmt::format(fmt::runtime(cpu_time), "stime_ns"), rss));
    if (has("alloc")) add_view_of_blocks();
    database_.exec(has("access")
                       ? fmt::format("CREATE VIEW access AS SELECT proc_id AS run_id, ts - {} AS at_ns, addr, "
                                     "op IN ('store', 'written') AS is_write FROM access_sample",
                                     job_.start_ns())
                       : "CREATE VIEW access AS SELECT 0 AS run_id, 0 AS at_ns, 0 AS addr, 0 AS is_write WHERE false");
  }

  // A block lives from the end of its allocation to the begin of the next event on its address.
  void add_view_of_blocks() {
    database_.exec("CREATE INDEX alloc_address ON alloc (proc_id, addr)");
    database_.exec(
        fmt::format("CREATE VIEW allocs AS WITH event AS ("
                    "SELECT rowid AS id, proc_id, addr AS base, size, op <> 'free' AS is_begin, "
                    "CASE WHEN op = 'free' THEN ts ELSE ts + coalesce(dur, 0) END AS at_ns FROM alloc "
                    "UNION ALL SELECT NULL, proc_id, old_addr, NULL, 0, ts FROM alloc WHERE old_addr <> 0), "
                    "life AS (SELECT *, lead(at_ns) OVER (PARTITION BY proc_id, base ORDER BY at_ns, is_begin) AS "
                    "until_ns FROM event) "
                    "SELECT id, proc_id AS run_id, at_ns - {0} AS from_ns, until_ns - {0} AS to_ns, base, size FROM "
                    "life WHERE is_begin",
                    job_.start_ns()));
  }

  Export& job_;
  SQLite::Database database_;
};

}  // namespace

Status write_sqlite(Export& job) try { return SqliteExport(job).run(); } catch (const SQLite::Exception& error) {
  return fail(fmt::format("cannot write the database {}: {}", job.output(), error.what()));
}

}  // namespace mlrun::exchange
