// SPDX-License-Identifier: Apache-2.0
// Use of SQLite by the sources of this folder. SQLiteCpp throws; our functions return Result.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>
#include <type_traits>

#include "runner/session/sweep_folder.h"
#include "runner/sweep/store/rows.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

inline std::string database_path(const std::string& folder) { return folder + "/" + session::kSweepDatabase; }

// The error for a failed access to the database of this sweep: what failed, and what to do.
Error database_error(const std::string& folder, const SQLite::Exception& error);

// Runs `body`, which returns a Result.
template <typename Body>
std::invoke_result_t<Body> with_database(const std::string& folder, Body body) try {
  return body();
} catch (const SQLite::Exception& error) {
  return tl::make_unexpected(database_error(folder, error));
}

// The newest plan. Fails if there is no sweep.
Result<Plan> stored_plan(SQLite::Database& database, const std::string& folder);
// By position, then attempt, with their figures, machine and facts.
Result<std::vector<RunRow>> stored_runs(SQLite::Database& database, const std::string& folder, const Plan& plan);

}  // namespace mlrun::sweep
