// SPDX-License-Identifier: Apache-2.0
// Whether a trace is whole and of a version that this build reads. run.json holds how many files each table has; traces of
// earlier versions do not say it.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/util/result.h"

namespace mlrun::trace {

// "the trace TRACE is damaged: WHAT; ..." with what to do about it.
[[nodiscard]] tl::unexpected<Error> damaged(const std::string& trace_folder, const std::string& what);

// Fails for a version that is newer than this build.
Status check_schema_version(const std::string& trace_folder, int64_t version);
// The same of run.json, where the version may be missing.
Status check_schema_version(const std::string& trace_folder, const nlohmann::json& run);

// Names of the tables below the folder with their numbers of files: `tables` of run.json.
[[nodiscard]] nlohmann::json table_files(const std::string& tables_folder);

// Has `table` all files that `run` says, each with an end? An empty name: every table.
Status check_tables(const std::string& trace_folder, const nlohmann::json& run, const std::string& table = {});

}  // namespace mlrun::trace
