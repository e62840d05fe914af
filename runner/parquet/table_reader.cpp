// SPDX-License-Identifier: Apache-2.0
#include "runner/parquet/table_reader.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <new>
#include <optional>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/statistics.h>

#include "runner/parquet/arrow_error.h"
#include "runner/parquet/trace_condition.h"
#include "runner/util/damaged_trace.h"

namespace mlrun::tables {

namespace {

namespace fs = std::filesystem;

// Smallest and largest value of an int64 column in a row group, if the file has statistics.
struct Range {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
};

Range range_of(const parquet::RowGroupMetaData& group, int column) {
  if (column < 0) return {};
  const auto statistics = group.ColumnChunk(column)->statistics();
  if (!statistics || !statistics->HasMinMax() || statistics->physical_type() != parquet::Type::INT64) return {};
  const auto& numbers = static_cast<const parquet::Int64Statistics&>(*statistics);
  return {numbers.min(), numbers.max()};
}

std::vector<int> row_groups_in(const parquet::FileMetaData& file, const TableQuery& query) {
  const int start = file.schema()->ColumnIndex("ts");
  const int end = file.schema()->ColumnIndex("end_max");
  std::vector<int> wanted;
  for (int i = 0; i < file.num_row_groups(); ++i) {
    const auto group = file.RowGroup(i);
    const Range starts = range_of(*group, start);
    const Range ends = end < 0 ? Range{} : range_of(*group, end);
    if (starts.min <= query.to_ns && ends.max >= query.from_ns) wanted.push_back(i);
  }
  return wanted;
}

// Commits before 2026-11-28 called this column of several tables otherwise.
constexpr const char *kSamples = "samples", *kSamplesEarlier = "looks";

std::shared_ptr<arrow::Schema> with_todays_names(const std::shared_ptr<arrow::Schema>& schema) {
  const int at = schema->GetFieldIndex(kSamplesEarlier);
  return at < 0 ? schema : schema->SetField(at, schema->field(at)->WithName(kSamples)).ValueOrDie();
}

Result<std::vector<int>> column_indices(const parquet::FileMetaData& file, const TableQuery& query,
                                        const std::string& path) {
  std::vector<int> indices;
  if (query.columns.empty()) {
    for (int i = 0; i < file.num_columns(); ++i) indices.push_back(i);
  }
  for (const auto& name : query.columns) {
    int index = file.schema()->ColumnIndex(name);
    if (index < 0 && name == kSamples) index = file.schema()->ColumnIndex(kSamplesEarlier);
    if (index < 0) return fail(path + " has no column " + name);
    indices.push_back(index);
  }
  return indices;
}

Result<std::vector<std::string>> files_of(const std::string& trace_folder, const std::string& table) {
  const fs::path file = fs::path(trace_folder) / "tables" / table;
  if (file.extension() == ".parquet") return std::vector<std::string>{file.string()};
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator at(fs::path(trace_folder) / "tables" / table, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".parquet") files.push_back(at->path().string());
  }
  if (error || files.empty()) return util::damaged_trace(trace_folder, "the table '" + table + "' has no files");
  std::sort(files.begin(), files.end());
  return files;
}

// "cannot read FILE: ..." with Arrow's message. A lack of memory does not mean that the file is damaged.
std::string arrow_text(const std::string& path, const arrow::Status& status) {
  if (status.IsOutOfMemory()) throw std::bad_alloc();
  return "cannot read " + path + ": " + status.message();
}

Status check_version(const parquet::FileMetaData& file, const std::string& trace_folder) {
  const auto& facts = file.key_value_metadata();
  if (!facts || !facts->Contains("mlrun.schema_version")) return {};
  return check_schema_version(trace_folder, std::strtoll(facts->Get("mlrun.schema_version")->c_str(), nullptr, 10));
}

}  // namespace

struct TableReader::State {
  using Batch = Result<std::shared_ptr<arrow::RecordBatch>>;

  std::string trace_folder;
  std::shared_ptr<arrow::Schema> schema;
  std::vector<std::string> files;
  size_t next_file = 0;
  TableQuery query;
  std::unique_ptr<parquet::arrow::FileReader> file;
  std::unique_ptr<arrow::RecordBatchReader> batches;  // null: the table has no file
  // The last member, so that it is destroyed first: its destructor waits for the thread that uses the others.
  std::future<Batch> ahead;

  Status open_next_file();
  Batch read();
};

Status TableReader::State::open_next_file() {
  const std::string& path = files[next_file++];
  auto opened = arrow::io::ReadableFile::Open(path);
  if (!opened.ok()) return arrow_error("open " + path, opened.status());
  try {
    parquet::arrow::FileReaderBuilder builder;
    if (auto status = builder.Open(*opened); !status.ok())
      return util::damaged_trace(trace_folder, arrow_text(path, status));
    // Arrow is to start no threads: a limit on processes may forbid it, and more row groups would be held in memory.
    parquet::ArrowReaderProperties one_thread(false);
    one_thread.set_pre_buffer(false);
    const auto schema_of_file = builder.raw_reader()->metadata()->schema();
    for (const std::string& name : query.dictionaries) {
      const int column = schema_of_file->ColumnIndex(name);
      if (column >= 0) one_thread.set_read_dictionary(column, true);
    }
    builder.properties(one_thread)->memory_pool(arrow::system_memory_pool());
    if (auto status = builder.Build(&file); !status.ok()) {
      return util::damaged_trace(trace_folder, arrow_text(path, status));
    }
    const auto metadata = file->parquet_reader()->metadata();
    if (auto known = check_version(*metadata, trace_folder); !known) return known;
    auto columns = column_indices(*metadata, query, path);
    if (!columns) return tl::make_unexpected(columns.error());
    auto reader = file->GetRecordBatchReader(row_groups_in(*metadata, query), *columns);
    if (!reader.ok()) return util::damaged_trace(trace_folder, arrow_text(path, reader.status()));
    batches = *std::move(reader);
  } catch (const parquet::ParquetException& exception) {
    return util::damaged_trace(trace_folder, "cannot read " + path + ": " + exception.what());
  }
  return {};
}

TableReader::TableReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TableReader::~TableReader() = default;
TableReader::TableReader(TableReader&&) noexcept = default;
TableReader& TableReader::operator=(TableReader&&) noexcept = default;

Result<TableReader> TableReader::open(const std::string& trace_folder, const std::string& table, TableQuery query) {
  auto files = files_of(trace_folder, table);
  if (!files) return tl::make_unexpected(files.error());
  auto state = std::make_unique<State>();
  state->trace_folder = trace_folder;
  state->files = *std::move(files);
  state->query = std::move(query);
  if (auto first = state->open_next_file(); !first) return tl::make_unexpected(first.error());
  state->schema = with_todays_names(state->batches->schema());
  return TableReader(std::move(state));
}

TableReader TableReader::empty(std::shared_ptr<arrow::Schema> schema) {
  auto state = std::make_unique<State>();
  state->schema = std::move(schema);
  return TableReader(std::move(state));
}

std::shared_ptr<arrow::Schema> TableReader::schema() const { return state_->schema; }

TableReader::State::Batch TableReader::State::read() {
  for (;;) {
    std::shared_ptr<arrow::RecordBatch> batch;
    if (auto status = batches->ReadNext(&batch); !status.ok()) {
      return util::damaged_trace(trace_folder, arrow_text(files[next_file - 1], status));
    }
    if (batch && batch->num_rows() == 0) continue;
    if (batch) return arrow::RecordBatch::Make(with_todays_names(batch->schema()), batch->num_rows(), batch->columns());
    if (next_file == files.size()) return batch;
    if (auto opened = open_next_file(); !opened) return tl::make_unexpected(opened.error());
  }
}

Result<std::shared_ptr<arrow::RecordBatch>> TableReader::next() {
  if (!state_->batches) return nullptr;
  auto batch = state_->ahead.valid() ? state_->ahead.get() : state_->read();
  // If no thread can be started, the batch is read later, by get().
  const auto if_possible = std::launch::async | std::launch::deferred;
  if (state_->query.read_ahead && batch && *batch) {
    state_->ahead = std::async(if_possible, [state = state_.get()] { return state->read(); });
  }
  return batch;
}

Result<std::shared_ptr<arrow::Table>> read_table(const std::string& trace_folder, const std::string& table,
                                                 TableQuery query) {
  auto reader = TableReader::open(trace_folder, table, std::move(query));
  if (!reader) return tl::make_unexpected(reader.error());
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  std::shared_ptr<arrow::Schema> schema = reader->schema();
  for (;;) {
    auto batch = reader->next();
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) break;
    batches.push_back(*std::move(batch));
  }
  auto whole = arrow::Table::FromRecordBatches(std::move(schema), batches);
  if (!whole.ok()) return arrow_error("read table " + table, whole.status());
  return *std::move(whole);
}

bool has_table(const std::string& tables_folder, const std::string& table) {
  std::error_code error;
  for (fs::directory_iterator at(fs::path(tables_folder) / table, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".parquet") return true;
  }
  return false;
}

Result<std::vector<std::string>> list_tables(const std::string& trace_folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(fs::path(trace_folder) / "tables", error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_directory()) names.push_back(at->path().filename().string());
  }
  if (error) return util::damaged_trace(trace_folder, "its folder tables/ cannot be read: " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace mlrun::tables
