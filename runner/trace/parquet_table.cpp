// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/parquet_table.h"

#include <cstdio>

#include <arrow/api.h>
#include <arrow/io/buffered.h>
#include <arrow/io/file.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include "runner/trace/arrow_error.h"

namespace mlrun::trace {

namespace {

constexpr int64_t kRowGroupBytes = int64_t{96} << 20;  // of texts and numbers, before encoding
constexpr int kZstdLevel = 1;
constexpr int64_t kWriteBytes = int64_t{256} << 10;  // the encoder writes in bits and pieces

std::shared_ptr<parquet::WriterProperties> properties(const std::vector<std::unique_ptr<Column>>& columns) {
  parquet::WriterProperties::Builder builder;
  builder.version(parquet::ParquetVersion::PARQUET_2_6)
      ->max_row_group_length(kRowGroupRows)
      ->data_pagesize(1 << 20)
      ->memory_pool(arrow::system_memory_pool());
  for (const auto& column : columns) {
    if (column->encoding() != Encoding::kSame) {
      builder.compression(column->name(), parquet::Compression::ZSTD)->compression_level(column->name(), kZstdLevel);
    }
    if (column->encoding() == Encoding::kDictionary) continue;
    const auto encoding = column->encoding() == Encoding::kSplit ? parquet::Encoding::BYTE_STREAM_SPLIT
                                                                 : parquet::Encoding::DELTA_BINARY_PACKED;
    builder.disable_dictionary(column->name())->encoding(column->name(), encoding);
  }
  return builder.build();
}

std::shared_ptr<arrow::Schema> schema(const std::string& table, const std::vector<std::unique_ptr<Column>>& columns) {
  arrow::FieldVector fields;
  for (const auto& column : columns)
    fields.push_back(arrow::field(column->name(), column->type(), column->presence() == Presence::kSometimes));
  return arrow::schema(std::move(fields),
                       arrow::key_value_metadata(
                           {{"mlrun.table", table}, {"mlrun.schema_version", std::to_string(kTraceSchemaVersion)}}));
}

}  // namespace

// One file while it is written, under a name of its own; removed unless it was finished.
struct ParquetTable::File {
  std::string path, partial_path;
  std::shared_ptr<arrow::Schema> schema;
  std::shared_ptr<arrow::io::OutputStream> stream;
  std::unique_ptr<parquet::arrow::FileWriter> writer;
  bool finished = false;

  ~File() {
    if (finished) return;
    if (stream) static_cast<void>(stream->Abort().ok());
    std::remove(partial_path.c_str());
  }
};

ParquetTable::ParquetTable(std::string name) : name_(std::move(name)) {}
ParquetTable::~ParquetTable() = default;
ParquetTable::ParquetTable(ParquetTable&&) noexcept = default;
ParquetTable& ParquetTable::operator=(ParquetTable&&) noexcept = default;

template <typename T>
T& ParquetTable::add_column(std::unique_ptr<T> column) {
  T& reference = *column;
  columns_.push_back(std::move(column));
  return reference;
}

Int64Column& ParquetTable::int64(std::string name, Encoding encoding, Presence presence) {
  return add_column(std::make_unique<Int64Column>(std::move(name), encoding, presence));
}
Int32Column& ParquetTable::int32(std::string name, Encoding encoding, Presence presence) {
  return add_column(std::make_unique<Int32Column>(std::move(name), encoding, presence));
}
DoubleColumn& ParquetTable::real(std::string name) {
  return add_column(std::make_unique<DoubleColumn>(std::move(name), Encoding::kSplit, Presence::kAlways));
}
BoolColumn& ParquetTable::boolean(std::string name) {
  return add_column(std::make_unique<BoolColumn>(std::move(name)));
}
TextColumn& ParquetTable::text(std::string name, Presence presence) {
  return add_column(std::make_unique<TextColumn>(std::move(name), true, presence));
}
TextColumn& ParquetTable::optional_bytes(std::string name) {
  return add_column(std::make_unique<TextColumn>(std::move(name), false, Presence::kSometimes));
}
LabelColumn& ParquetTable::label(std::string name, std::vector<std::string> names) {
  return add_column(std::make_unique<LabelColumn>(std::move(name), std::move(names)));
}
SameColumn& ParquetTable::same_int64(std::string name) {
  return add_column(std::make_unique<SameColumn>(std::move(name)));
}
void ParquetTable::empty_int64(std::string name) { add_column(std::make_unique<EmptyColumn>(std::move(name))); }

Status ParquetTable::open(const std::string& path) {
  auto file = std::make_unique<File>();
  file->path = path;
  file->partial_path = path + ".partial";
  file->schema = schema(name_, columns_);
  auto raw_stream = arrow::io::FileOutputStream::Open(file->partial_path);
  if (!raw_stream.ok()) return arrow_error("create " + file->partial_path, raw_stream.status());
  auto stream = arrow::io::BufferedOutputStream::Create(kWriteBytes, arrow::system_memory_pool(), *raw_stream);
  if (!stream.ok()) return arrow_error("write " + path, stream.status());
  file->stream = *std::move(stream);
  auto writer =
      parquet::arrow::FileWriter::Open(*file->schema, arrow::system_memory_pool(), file->stream, properties(columns_));
  if (!writer.ok()) return arrow_error("write " + path, writer.status());
  file->writer = *std::move(writer);
  file_ = std::move(file);
  return {};
}

bool ParquetTable::full() const {
  if (rows_ >= kRowGroupRows) return true;
  if (rows_ % 1024 != 0) return false;
  int64_t bytes = 0;
  for (const auto& column : columns_) bytes += column->byte_size();
  return bytes >= kRowGroupBytes;
}

Status ParquetTable::end_row_group() {
  if (rows_ == 0) return {};
  arrow::ArrayVector arrays;
  arrays.reserve(columns_.size());
  for (const auto& column : columns_) {
    const bool complete = column->size() == rows_ || column->size() == Column::kAnySize;
    arrays.push_back(complete ? column->array(rows_) : nullptr);
    if (!arrays.back())
      return fail("table " + name_ + ": column " + column->name() + " has not one value for each row");
  }
  auto status = file_->writer->WriteTable(*arrow::Table::Make(file_->schema, arrays, rows_), rows_);
  for (const auto& column : columns_) column->clear();
  rows_ = 0;
  if (!status.ok()) return arrow_error("write " + file_->path, status);
  return {};
}

Result<int64_t> ParquetTable::close() {
  if (auto ended = end_row_group(); !ended) return tl::make_unexpected(ended.error());
  auto status = file_->writer->Close();
  const auto size = file_->stream->Tell();
  if (status.ok()) status = file_->stream->Close();
  if (!status.ok()) return arrow_error("write " + file_->path, status);
  if (std::rename(file_->partial_path.c_str(), file_->path.c_str()) != 0)
    return fail_errno("rename to " + file_->path, errno);
  file_->finished = true;
  file_.reset();
  return size.ValueOr(0);
}

}  // namespace mlrun::trace
