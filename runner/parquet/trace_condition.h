// SPDX-License-Identifier: Apache-2.0
// Checks that a trace is complete and of a version that this build reads. run.json has the number of files of each
// table; earlier versions lack it.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/util/result.h"

namespace mlrun::tables {

// Fails if the version is newer than this build.
Status check_schema_version(const std::string& trace_folder, int64_t version);
// Checks the version in run.json. A run.json without one passes.
Status check_schema_version(const std::string& trace_folder, const nlohmann::json& run);

// Number of files of each table below the folder: `tables` in run.json.
[[nodiscard]] nlohmann::json table_files(const std::string& tables_folder);

// Whether a sweep has deleted the files of this table, so that its folder is empty.
[[nodiscard]] bool is_deleted(const nlohmann::json& run, const std::string& table);

// Checks that `table` has all files listed in `run`, each with a footer. Empty name: every table.
Status check_tables(const std::string& trace_folder, const nlohmann::json& run, const std::string& table = {});

}  // namespace mlrun::tables
