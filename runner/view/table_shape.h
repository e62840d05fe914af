// SPDX-License-Identifier: Apache-2.0
// Size and first time of a trace's tables, from the files' footers only.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "runner/util/result.h"

namespace mlrun::view {

struct TableShape {
  int64_t rows = 0;
  int64_t size_bytes = 0;
  int64_t files = 0;
  int64_t first_ns = std::numeric_limits<int64_t>::max();  // smallest `ts`; the initial value: no rows, or unknown
};

// The file, below tables/, with a node's rows in a merged trace. It does not exist if the table has no rows of the node.
[[nodiscard]] std::string file_of_node(const std::string& table, int64_t node_id);

// `node_id`: count only the rows of this node of a merged trace; 0: all rows.
Result<TableShape> table_shape(const std::string& trace_folder, const std::string& table, int64_t node_id = 0);

}  // namespace mlrun::view
