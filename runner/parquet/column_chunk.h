// SPDX-License-Identifier: Apache-2.0
// Writes one column of one row group.
//
// A column with numbered values is written here, as a dictionary page and one page of indexes. Most columns have few distinct values in a row group,
// often one or none, and then take a few bytes and almost no time. Arrow writes all other columns.
#pragma once

#include <cstdint>
#include <memory>

namespace arrow::io {
class OutputStream;
}
namespace parquet {
class ColumnChunkMetaDataBuilder;
class WriterProperties;
}  // namespace parquet

namespace mlrun::tables {

class Column;

struct ChunkPlace {
  std::shared_ptr<arrow::io::OutputStream> stream;
  const parquet::WriterProperties& properties;
  const parquet::WriterProperties& properties_of_texts;  // for columns of texts with too many values for a dictionary
  parquet::ColumnChunkMetaDataBuilder* chunk;
  int16_t row_group, column;
};

// Returns the bytes written, before compression. Throws std::exception on a write error. Requires: `rows` values were
// added to the column.
int64_t write_chunk(const ChunkPlace& place, Column& column, int64_t rows);

}  // namespace mlrun::tables
