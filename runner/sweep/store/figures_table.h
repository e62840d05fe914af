// SPDX-License-Identifier: Apache-2.0
// OUT/figures.parquet: a row for each run of a sweep, with its figures as columns, for DuckDB, pandas and Spark.
#pragma once

#include "runner/sweep/store/rows.h"

namespace mlrun::sweep {

inline constexpr const char* kFiguresFile = "figures.parquet";

// Writes it from all rows of the sweep, in place of an older one. Columns: run_id, folder, configuration, workload, block, position,
// attempt, state, exit_status, started_ns; parameter_NAME for each parameter; a column for each figure, and machine_NAME for the
// state of the machine. Null where a run has none.
Status write_figures(const Sweep& sweep);

}  // namespace mlrun::sweep
