// SPDX-License-Identifier: Apache-2.0
#include "runner/parquet/column_chunk.h"

#include <bit>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <parquet/column_page.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>

#include "runner/parquet/hybrid_code.h"
#include "runner/parquet/parquet_column.h"

namespace mlrun::tables {

namespace {

std::unique_ptr<parquet::PageWriter> open_pages(const ChunkPlace& place) {
  const auto path = place.chunk->descr()->path();
  const auto& options = place.properties.codec_options(path);
  return parquet::PageWriter::Open(place.stream, place.properties.compression(path), place.chunk, place.row_group,
                                   place.column, arrow::system_memory_pool(), false, nullptr, nullptr, false, nullptr,
                                   nullptr, options ? *options : parquet::CodecOptions());
}

void set_statistics(const ChunkPlace& place, const NumberedValues& values, int64_t nulls) {
  parquet::EncodedStatistics statistics;
  statistics.set_is_signed(place.chunk->descr()->sort_order() == parquet::SortOrder::SIGNED);
  statistics.set_null_count(nulls);
  statistics.all_null_value = values.entries == 0;
  if (!values.max.empty()) {
    statistics.set_min(values.min);
    statistics.set_max(values.max);
  }
  place.chunk->SetStatistics(statistics);
}

// Writes the definition levels (which rows have a value), prefixed with their length.
void add_levels(Column& column, int64_t rows, int64_t nulls, std::vector<uint8_t>& body) {
  body.resize(sizeof(uint32_t));
  HybridCode code(body, 1);
  const auto count = static_cast<size_t>(rows);
  if (nulls == 0 || nulls == rows) {
    code.add_run(count, nulls == 0 ? 1 : 0);
  } else {
    code.add_bits(column.validity_bits(rows), count);
  }
  const auto bytes = static_cast<uint32_t>(body.size() - sizeof(uint32_t));
  __builtin_memcpy(body.data(), &bytes, sizeof bytes);
}

void add_numbers(const NumberedValues& values, int64_t count, std::vector<uint8_t>& body) {
  const auto bit_width = std::max(1u, static_cast<unsigned>(std::bit_width(values.entries - 1)));
  body.push_back(static_cast<uint8_t>(bit_width));
  HybridCode code(body, bit_width);
  if (values.entries == 1) return code.add_run(static_cast<uint64_t>(count), 0);
  code.add(values.numbers);
}

int64_t write_data_page(parquet::PageWriter& pages, const std::vector<uint8_t>& body, int64_t rows,
                        parquet::Encoding::type encoding) {
  auto buffer = std::make_shared<arrow::Buffer>(body.data(), static_cast<int64_t>(body.size()));
  if (pages.has_compressor()) {
    PARQUET_ASSIGN_OR_THROW(auto compressed, arrow::AllocateResizableBuffer(0, arrow::system_memory_pool()));
    pages.Compress(*buffer, compressed.get());
    buffer = std::move(compressed);
  }
  return pages.WriteDataPage(parquet::DataPageV1(buffer, static_cast<int32_t>(rows), encoding, parquet::Encoding::RLE,
                                                 parquet::Encoding::RLE, static_cast<int64_t>(body.size())));
}

int64_t write_numbered(const ChunkPlace& place, Column& column, const NumberedValues& values, int64_t rows) {
  const auto pages = open_pages(place);
  const int64_t nulls = values.entries == 0 ? rows : column.null_count();
  int64_t bytes = 0;
  if (values.entries != 0) {
    const auto dictionary = std::make_shared<arrow::Buffer>(values.dictionary);
    bytes += pages->WriteDictionaryPage(
        parquet::DictionaryPage(dictionary, static_cast<int32_t>(values.entries), parquet::Encoding::PLAIN));
  }
  std::vector<uint8_t> body;
  if (column.presence() == Presence::kSometimes) add_levels(column, rows, nulls, body);
  if (values.entries != 0) add_numbers(values, rows - nulls, body);
  bytes += write_data_page(*pages, body, rows,
                           values.entries != 0 ? parquet::Encoding::RLE_DICTIONARY : parquet::Encoding::PLAIN);
  set_statistics(place, values, nulls);
  pages->Close(values.entries != 0, false);
  return bytes;
}

int64_t write_by_arrow(const ChunkPlace& place, Column& column, int64_t rows) {
  // Arrow gets no dictionary for texts: texts that repeat were numbered before.
  const bool is_text = place.chunk->descr()->physical_type() == parquet::Type::BYTE_ARRAY;
  const auto& properties = is_text ? place.properties_of_texts : place.properties;
  const auto writer = parquet::ColumnWriter::Make(place.chunk, open_pages(place), &properties);
  const bool nullable = column.presence() == Presence::kSometimes;
  std::vector<int16_t> levels;
  if (nullable) levels.assign(static_cast<size_t>(rows), 1);
  if (nullable && column.null_count() != 0) {
    const uint8_t* bits = column.validity_bits(rows);
    for (size_t row = 0; row < levels.size(); ++row) levels[row] = static_cast<int16_t>(bits[row / 8] >> row % 8 & 1);
  }
  const auto arrow_properties = parquet::default_arrow_writer_properties();
  parquet::ArrowWriteContext context(arrow::system_memory_pool(), arrow_properties.get());
  const auto array = column.array(rows);
  PARQUET_THROW_NOT_OK(
      writer->WriteArrow(nullable ? levels.data() : nullptr, nullptr, rows, *array, &context, nullable));
  return writer->Close();
}

}  // namespace

int64_t write_chunk(const ChunkPlace& place, Column& column, int64_t rows) {
  NumberedValues values;
  return column.number_values(values) ? write_numbered(place, column, values, rows)
                                      : write_by_arrow(place, column, rows);
}

}  // namespace mlrun::tables
