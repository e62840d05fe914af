// SPDX-License-Identifier: Apache-2.0
// Tables that only some recordings or imports fill. Every trace has all of them, empty if there was nothing for them, so that a
// query that works for one trace works for all.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/util/result.h"

namespace arrow {
class Schema;
}  // namespace arrow

namespace mlrun::trace {

// Writes the optional tables that have no file below `tables_folder` yet, without rows, and puts the number of files of
// all tables into `run` (run.json). Requires: all other tables are written.
Status complete_tables(const std::string& tables_folder, nlohmann::json& run);

// Columns of an optional table, for traces of earlier versions that lack it. nullptr: no optional table has this name.
[[nodiscard]] std::shared_ptr<arrow::Schema> optional_table_schema(const std::string& table);

}  // namespace mlrun::trace
