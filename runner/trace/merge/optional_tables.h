// SPDX-License-Identifier: Apache-2.0
// Tables of streams that a run may do without. Every trace has all of them, empty where nothing was recorded, so that a
// query for any trace finds its tables and columns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/util/result.h"

namespace arrow {
class Schema;
}  // namespace arrow

namespace mlrun::trace {

// Writes those that have no file below `tables_folder` yet, without rows, and puts the numbers of files of all tables into
// `run` (run.json). Requires: all other tables are written.
Status complete_tables(const std::string& tables_folder, nlohmann::json& run);

// Their columns, for traces of earlier versions, which lack such tables. nullptr: there is no such table.
[[nodiscard]] std::shared_ptr<arrow::Schema> optional_table_schema(const std::string& table);

[[nodiscard]] std::vector<std::string> optional_tables();

}  // namespace mlrun::trace
