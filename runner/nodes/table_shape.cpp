// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/table_shape.h"

#include <algorithm>
#include <map>
#include <optional>

#include <arrow/api.h>
#include <fmt/format.h>
#include <parquet/file_reader.h>

#include "runner/nodes/table_file.h"
#include "runner/parquet/table_reader.h"

namespace mlrun::nodes {

namespace {

std::optional<ColumnType> type_of(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::INT64: return ColumnType::kInt64;
    case arrow::Type::INT32: return ColumnType::kInt32;
    case arrow::Type::DOUBLE: return ColumnType::kDouble;
    case arrow::Type::BOOL: return ColumnType::kBool;
    case arrow::Type::STRING: return ColumnType::kText;
    case arrow::Type::BINARY: return ColumnType::kBytes;
    case arrow::Type::DICTIONARY: return type_of(*static_cast<const arrow::DictionaryType&>(type).value_type());
    default: return std::nullopt;
  }
}

tables::Encoding encoding_of(const parquet::FileMetaData& file, int column) {
  if (file.num_row_groups() == 0) return tables::Encoding::kDictionary;
  const auto chunk = file.RowGroup(0)->ColumnChunk(column);
  const auto has = [&](auto... wanted) {
    return std::ranges::any_of(chunk->encodings(), [&](const auto one) { return ((one == wanted) || ...); });
  };
  if (has(parquet::Encoding::DELTA_BINARY_PACKED)) return tables::Encoding::kDelta;
  // A dictionary page is itself encoded as PLAIN, so the dictionary encodings are looked for before PLAIN.
  if (has(parquet::Encoding::PLAIN_DICTIONARY, parquet::Encoding::RLE_DICTIONARY)) return tables::Encoding::kDictionary;
  return has(parquet::Encoding::PLAIN, parquet::Encoding::BYTE_STREAM_SPLIT) ? tables::Encoding::kSplit
                                                                             : tables::Encoding::kDictionary;
}

class Shaper {
 public:
  explicit Shaper(const std::vector<NodeTrace>& nodes) : nodes_(nodes) {
    shapes_.largest_keys.assign(nodes.size(), std::vector<int64_t>(kKeySpaces));
  }

  Status add(size_t node, const std::string& table, std::vector<std::string>& problems) {
    TableShape& shape = of_table(table);
    const std::vector<std::string> files = files_of(nodes_[node].folder, table);
    for (const std::string& path : files) {
      auto file = TableFile::open(path);
      if (!file) return tl::make_unexpected(file.error());
      if (const std::string why = merge_columns(*file, shape); !why.empty()) {
        problems.push_back(fmt::format("table {} of {} is left out: {}", table, nodes_[node].name, why));
        shape.rows[node] = 0;
        return {};
      }
      shape.rows[node] += file->rows();
      if (Status found = find_keys(*file, table, shapes_.largest_keys[node]); !found) return found;
    }
    shape.files[node] = files;
    return {};
  }

  TableShapes finish() {
    for (auto& [name, shape] : by_name_) shapes_.tables.push_back(std::move(shape));
    return std::move(shapes_);
  }

 private:
  TableShape& of_table(const std::string& table) {
    TableShape& shape = by_name_[table];
    shape.name = table;
    shape.files.resize(nodes_.size());
    shape.rows.resize(nodes_.size());
    return shape;
  }

  // Adds the file's columns to the shape. Returns why that is not possible; empty: it is done.
  static std::string merge_columns(const TableFile& file, TableShape& shape) {
    const bool is_first = shape.columns.empty();
    const auto same = [&](const std::string& name) {
      return std::find_if(shape.columns.begin(), shape.columns.end(),
                          [&](const auto& one) { return one.name == name; });
    };
    for (ColumnShape& column : shape.columns) {
      if (file.schema().GetFieldIndex(column.name) >= 0) continue;
      if (column.type == ColumnType::kBool) return "it has no column " + column.name;
      column.has_nulls = true;
    }
    for (int i = 0; i < file.schema().num_fields(); ++i) {
      const auto& field = *file.schema().field(i);
      const auto type = type_of(*field.type());
      if (!type) return "column " + field.name() + " has the type " + field.type()->ToString();
      if (const auto known = same(field.name()); known != shape.columns.end()) {
        if (known->type != *type) return "column " + field.name() + " is of another type than in the nodes before";
        known->has_nulls = known->has_nulls || field.nullable();
        if (known->encoding == tables::Encoding::kDictionary) known->encoding = encoding_of(file.metadata(), i);
        continue;
      }
      if (!is_first && *type == ColumnType::kBool) return "the nodes before have no column " + field.name();
      shape.columns.push_back({field.name(), *type, encoding_of(file.metadata(), i), field.nullable() || !is_first,
                               meaning_of(shape.name, field.name())});
    }
    return {};
  }

  static Status find_keys(const TableFile& file, const std::string& table, std::vector<int64_t>& largest) {
    for (int i = 0; i < file.schema().num_fields(); ++i) {
      const ColumnMeaning meaning = meaning_of(table, file.schema().field(i)->name());
      if (meaning.kind != ColumnKind::kKey) continue;
      const auto found = file.largest(i);
      if (!found) return tl::make_unexpected(found.error());
      int64_t& most = largest[static_cast<size_t>(meaning.space)];
      most = std::max(most, *found);
    }
    return {};
  }

  const std::vector<NodeTrace>& nodes_;
  std::map<std::string, TableShape> by_name_;
  TableShapes shapes_;
};

}  // namespace

Result<TableShapes> shapes_of(const std::vector<NodeTrace>& nodes, std::vector<std::string>& problems) {
  Shaper shaper(nodes);
  for (size_t node = 0; node < nodes.size(); ++node) {
    const auto tables = tables::list_tables(nodes[node].folder);
    if (!tables) return tl::make_unexpected(tables.error());
    for (const std::string& table : *tables) {
      if (Status added = shaper.add(node, table, problems); !added) return tl::make_unexpected(added.error());
    }
  }
  return shaper.finish();
}

}  // namespace mlrun::nodes
