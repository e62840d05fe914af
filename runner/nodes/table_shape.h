// SPDX-License-Identifier: Apache-2.0
// The columns of a table in a merged trace: those of all nodes, in the order of the first that has them.
#pragma once

#include <string>
#include <vector>

#include "runner/nodes/column_kinds.h"
#include "runner/nodes/node_trace.h"
#include "runner/parquet/parquet_column.h"
#include "runner/util/result.h"

namespace mlrun::nodes {

enum class ColumnType : uint8_t { kInt64, kInt32, kDouble, kBool, kText, kBytes };

struct ColumnShape {
  std::string name;
  ColumnType type = ColumnType::kInt64;
  tables::Encoding encoding = tables::Encoding::kDictionary;
  bool has_nulls = false;
  ColumnMeaning meaning;
};

struct TableShape {
  std::string name;
  std::vector<ColumnShape> columns;
  std::vector<std::vector<std::string>> files;  // of each node
  std::vector<int64_t> rows;                    // of each node
};

struct TableShapes {
  std::vector<TableShape> tables;
  std::vector<std::vector<int64_t>> largest_keys;  // by node and KeySpace
};

// Reads the footers, and columns of keys that have no statistics there. Leaves a node's table out, with a line in `problems`, if a column has another
// type than in the nodes before it or a type that cannot be merged, or if a column of booleans is missing in this node or in those before it.
Result<TableShapes> shapes_of(const std::vector<NodeTrace>& nodes, std::vector<std::string>& problems);

}  // namespace mlrun::nodes
