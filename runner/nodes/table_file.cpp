// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/table_file.h"

#include <algorithm>
#include <filesystem>
#include <new>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/statistics.h>

#include "runner/parquet/arrow_error.h"
#include "runner/util/damaged_trace.h"

namespace mlrun::nodes {

namespace {

// `path`: TRACE/tables/TABLE/FILE.
tl::unexpected<Error> unreadable(const std::string& path, const std::string& why) {
  const std::filesystem::path table = std::filesystem::path(path).parent_path();
  return util::damaged_trace(table.parent_path().parent_path().string(), "cannot read " + path + ": " + why);
}

// 0: no row has a value.
int64_t largest_in(const arrow::Array& array) {
  int64_t most = 0;
  for (int64_t row = 0; row < array.length(); ++row) {
    if (array.IsNull(row)) continue;
    most = std::max(most, array.type_id() == arrow::Type::INT64
                              ? static_cast<const arrow::Int64Array&>(array).Value(row)
                              : int64_t{static_cast<const arrow::Int32Array&>(array).Value(row)});
  }
  return most;
}

}  // namespace

TableFile::~TableFile() = default;
TableFile::TableFile(TableFile&&) noexcept = default;

Result<TableFile> TableFile::open(const std::string& path) {
  TableFile file;
  file.path_ = path;
  auto opened = arrow::io::ReadableFile::Open(path);
  if (!opened.ok()) return tables::arrow_error("open " + path, opened.status());
  try {
    parquet::arrow::FileReaderBuilder builder;
    if (auto status = builder.Open(*opened); !status.ok()) return unreadable(path, status.message());
    parquet::ArrowReaderProperties one_thread(false);
    one_thread.set_pre_buffer(false);
    const auto* columns = builder.raw_reader()->metadata()->schema();
    for (int i = 0; i < columns->num_columns(); ++i) {
      if (columns->Column(i)->physical_type() == parquet::Type::BYTE_ARRAY) one_thread.set_read_dictionary(i, true);
    }
    builder.properties(one_thread)->memory_pool(arrow::system_memory_pool());
    if (auto status = builder.Build(&file.reader_); !status.ok()) return unreadable(path, status.message());
    if (auto status = file.reader_->GetSchema(&file.schema_); !status.ok()) return unreadable(path, status.message());
  } catch (const parquet::ParquetException& exception) {
    return unreadable(path, exception.what());
  }
  return file;
}

const parquet::FileMetaData& TableFile::metadata() const { return *reader_->parquet_reader()->metadata(); }
int TableFile::row_groups() const { return reader_->num_row_groups(); }
int64_t TableFile::rows() const { return metadata().num_rows(); }

Result<std::shared_ptr<arrow::Table>> TableFile::read(int row_group) const {
  auto table = reader_->ReadRowGroup(row_group);
  if (table.ok()) return *std::move(table);
  if (table.status().IsOutOfMemory()) throw std::bad_alloc();
  return unreadable(path_, table.status().message());
}

Result<int64_t> TableFile::largest(int column) const {
  int64_t most = 0;
  try {
    for (int i = 0; i < row_groups(); ++i) {
      const auto statistics = metadata().RowGroup(i)->ColumnChunk(column)->statistics();
      if (statistics && statistics->HasMinMax()) {
        if (statistics->physical_type() == parquet::Type::INT64)
          most = std::max(most, static_cast<const parquet::Int64Statistics&>(*statistics).max());
        if (statistics->physical_type() == parquet::Type::INT32)
          most = std::max<int64_t>(most, static_cast<const parquet::Int32Statistics&>(*statistics).max());
        continue;
      }
      const auto table = reader_->ReadRowGroup(i, {column});
      if (!table.ok()) return unreadable(path_, table.status().message());
      for (const auto& array : (*table)->column(0)->chunks()) most = std::max(most, largest_in(*array));
    }
  } catch (const parquet::ParquetException& exception) {
    return unreadable(path_, exception.what());
  }
  return most;
}

// Recognises by their text: errors of util::damaged_trace(), and errors that begin with a table file's name or "cannot open" it.
bool is_about_trace(const Error& error, const std::string& trace_folder) {
  const auto begins = [&](const std::string& text) { return error.text.starts_with(text); };
  return begins("the trace " + trace_folder + " is damaged: ") || begins(trace_folder + "/tables/") ||
         begins("cannot open " + trace_folder + "/tables/");
}

std::vector<std::string> files_of(const std::string& trace_folder, const std::string& table) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(trace_folder + "/tables/" + table, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".parquet") files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace mlrun::nodes
