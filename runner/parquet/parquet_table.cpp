// SPDX-License-Identifier: Apache-2.0
#include "runner/parquet/parquet_table.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include <arrow/api.h>
#include <arrow/io/buffered.h>
#include <arrow/io/file.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include "runner/parquet/arrow_error.h"
#include "runner/parquet/column_chunk.h"
#include "runner/util/file_io.h"

namespace mlrun::tables {

namespace {

constexpr int kZstdLevel = 1;
constexpr int64_t kWriteBytes = int64_t{256} << 10;  // Arrow writes many small pieces

parquet::Encoding::type encoding_of(const Column& column) {
  if (column.encoding() != Encoding::kSplit) return parquet::Encoding::DELTA_BINARY_PACKED;
  // Byte-stream split would also save 0.2 bytes per call for integers, but DuckDB before 2.0, which is the last for Python 3.9 and 3.10, cannot read
  // integers in it.
  return column.type()->id() == arrow::Type::DOUBLE ? parquet::Encoding::BYTE_STREAM_SPLIT : parquet::Encoding::PLAIN;
}

std::shared_ptr<parquet::WriterProperties> properties(const std::vector<std::unique_ptr<Column>>& columns,
                                                      bool has_dictionaries = true) {
  parquet::WriterProperties::Builder builder;
  if (!has_dictionaries) builder.disable_dictionary();
  builder.version(parquet::ParquetVersion::PARQUET_2_6)
      ->max_row_group_length(kRowGroupRows)
      ->data_pagesize(1 << 20)
      ->set_size_statistics_level(parquet::SizeStatisticsLevel::None)
      ->max_rows_per_page(kRowGroupRows)
      ->memory_pool(arrow::system_memory_pool());
  for (const auto& column : columns) {
    if (column->encoding() != Encoding::kSame) {
      builder.compression(column->name(), parquet::Compression::ZSTD)->compression_level(column->name(), kZstdLevel);
    }
    if (column->encoding() == Encoding::kDictionary) continue;
    builder.disable_dictionary(column->name())->encoding(column->name(), encoding_of(*column));
  }
  return builder.build();
}

arrow::Result<std::shared_ptr<parquet::SchemaDescriptor>> parquet_schema(const arrow::Schema& schema,
                                                                         const parquet::WriterProperties& properties) {
  std::shared_ptr<parquet::SchemaDescriptor> result;
  ARROW_RETURN_NOT_OK(parquet::arrow::ToParquetSchema(&schema, properties, &result));
  return result;
}

std::shared_ptr<arrow::KeyValueMetadata> about(const std::string& table) {
  return arrow::key_value_metadata(
      {{"mlrun.table", table}, {"mlrun.schema_version", std::to_string(kTraceSchemaVersion)}});
}

// Arguments may contain secrets that no masking rule finds. Like run.json, a table with arguments can be read by its owner only.
bool holds_arguments(const std::vector<std::unique_ptr<Column>>& columns) {
  return std::any_of(columns.begin(), columns.end(),
                     [](const auto& column) { return column->name() == "command" || column->name() == "arguments"; });
}

}  // namespace

// A file being written under a temporary name; removed unless finished. Arrow's functions may throw.
struct ParquetTable::File {
  std::string path, partial_path;
  std::shared_ptr<parquet::WriterProperties> properties, properties_of_texts;
  std::shared_ptr<parquet::SchemaDescriptor> schema;
  std::shared_ptr<arrow::io::OutputStream> stream;
  std::unique_ptr<parquet::FileMetaDataBuilder> metadata;
  int16_t row_groups = 0;
  bool finished = false;

  void begin() {
    PARQUET_THROW_NOT_OK(stream->Write(kMagic));
    metadata = parquet::FileMetaDataBuilder::Make(schema.get(), properties);
  }
  void write(const std::vector<std::unique_ptr<Column>>& columns, int64_t rows) {
    auto* group = metadata->AppendRowGroup();
    group->set_num_rows(rows);
    int64_t bytes = 0;
    for (size_t i = 0; i < columns.size(); ++i) {
      bytes += write_chunk(
          {stream, *properties, *properties_of_texts, group->NextColumnChunk(), row_groups, static_cast<int16_t>(i)},
          *columns[i], rows);
    }
    group->Finish(bytes, row_groups++);
  }
  void end(const std::string& table) { parquet::WriteFileMetaData(*metadata->Finish(about(table)), stream.get()); }

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
DoubleColumn& ParquetTable::real(std::string name, Presence presence) {
  return add_column(std::make_unique<DoubleColumn>(std::move(name), Encoding::kSplit, presence));
}
BoolColumn& ParquetTable::boolean(std::string name) {
  return add_column(std::make_unique<BoolColumn>(std::move(name)));
}
TextColumn& ParquetTable::text(std::string name, Presence presence) {
  return add_text(std::move(name), true, presence);
}
TextColumn& ParquetTable::optional_bytes(std::string name) {
  return add_text(std::move(name), false, Presence::kSometimes);
}
TextColumn& ParquetTable::add_text(std::string name, bool utf8, Presence presence) {
  TextColumn& column = add_column(std::make_unique<TextColumn>(std::move(name), utf8, presence));
  texts_.push_back(&column);
  return column;
}
LabelColumn& ParquetTable::label(std::string name, std::vector<std::string> names) {
  return add_column(std::make_unique<LabelColumn>(std::move(name), std::move(names)));
}
SameColumn& ParquetTable::same_int64(std::string name) {
  return add_column(std::make_unique<SameColumn>(std::move(name)));
}
void ParquetTable::empty_int64(std::string name) { add_column(std::make_unique<EmptyColumn>(std::move(name))); }

std::shared_ptr<arrow::Schema> ParquetTable::schema() const {
  arrow::FieldVector fields;
  for (const auto& column : columns_)
    fields.push_back(arrow::field(column->name(), column->type(), column->presence() == Presence::kSometimes));
  return arrow::schema(std::move(fields));
}

Status ParquetTable::open(const std::string& path) {
  auto file = std::make_unique<File>();
  file->path = path;
  file->partial_path = path + ".partial";
  file->properties = properties(columns_);
  file->properties_of_texts = properties(columns_, false);
  auto columns = parquet_schema(*schema(), *file->properties);
  if (!columns.ok()) return arrow_error("write " + path, columns.status());
  file->schema = *std::move(columns);
  auto raw_stream = arrow::io::FileOutputStream::Open(file->partial_path);
  if (!raw_stream.ok()) return arrow_error("create " + file->partial_path, raw_stream.status());
  if (holds_arguments(columns_)) ::chmod(file->partial_path.c_str(), S_IRUSR | S_IWUSR);
  auto stream = arrow::io::BufferedOutputStream::Create(kWriteBytes, arrow::system_memory_pool(), *raw_stream);
  if (!stream.ok()) return arrow_error("write " + path, stream.status());
  file->stream = *std::move(stream);
  file_ = std::move(file);
  return guarded([&] { file_->begin(); });
}

Status ParquetTable::open_in(const std::string& tables_folder) {
  const std::string folder = tables_folder + "/" + name_;
  if (Status made = util::make_folders(folder); !made) return made;
  return open(folder + "/part-00000.parquet");
}

Status ParquetTable::guarded(const std::function<void()>& write) {
  try {
    write();
  } catch (const parquet::ParquetException& exception) {
    return fail("cannot write " + file_->path + ": " + exception.what());
  }
  return {};
}

bool ParquetTable::full() const {
  if (rows_ >= kRowGroupRows) return true;
  int64_t bytes = 0;
  for (const TextColumn* column : texts_) bytes += column->byte_size();
  return bytes >= kRowGroupTextBytes;
}

Status ParquetTable::end_row_group() {
  if (rows_ == 0) return {};
  for (const auto& column : columns_) {
    const bool whole = column->size() == rows_ || column->size() == Column::kAnySize;
    if (!whole || (column->presence() == Presence::kAlways && column->null_count() != 0))
      return fail("table " + name_ + ": column " + column->name() + " does not have exactly one value per row");
  }
  auto written = guarded([&] { file_->write(columns_, rows_); });
  for (const auto& column : columns_) column->clear();
  rows_ = 0;
  return written;
}

Result<int64_t> ParquetTable::close() {
  if (auto ended = end_row_group(); !ended) return tl::make_unexpected(ended.error());
  if (auto ended = guarded([&] { file_->end(name_); }); !ended) return tl::make_unexpected(ended.error());
  const auto size = file_->stream->Tell();
  if (auto status = file_->stream->Close(); !status.ok()) return arrow_error("write " + file_->path, status);
  if (std::rename(file_->partial_path.c_str(), file_->path.c_str()) != 0)
    return fail_errno("rename to " + file_->path, errno);
  file_->finished = true;
  file_.reset();
  return size.ValueOr(0);
}

}  // namespace mlrun::tables
