// SPDX-License-Identifier: Apache-2.0
// The sizes of a trace's tables, and when they begin, from the files' footers only.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "runner/util/result.h"

namespace mlrun::view {

struct TableShape {
  int64_t rows = 0;
  int64_t size_bytes = 0;
  int64_t parts = 0;
  int64_t first_ns = std::numeric_limits<int64_t>::max();  // the least `ts`; as it is here: none, or unknown
};

// The file with the rows of a node of a merged trace, below the folder of the tables; there is none if the table has no such rows.
[[nodiscard]] std::string part_of_node(const std::string& table, int64_t node_id);

// `node_id`: rows of this node of a merged trace alone; 0: of all.
Result<TableShape> table_shape(const std::string& trace_folder, const std::string& table, int64_t node_id = 0);

}  // namespace mlrun::view
