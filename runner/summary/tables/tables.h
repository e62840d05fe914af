// SPDX-License-Identifier: Apache-2.0
// The summary as summary_* tables of a trace.
#pragma once

#include <string>

#include "runner/summary/summary.h"
#include "runner/util/result.h"

namespace mlrun::summary {

// Writes tables/summary_*/part-00000.parquet. Run, phases, losses and coverage are in run.json and the tables of
// those names instead.
Status write_tables(const Summary& summary, const std::string& trace_folder);

// The summary of a finished trace, from its summary_* tables, phase, loss, coverage and run.json. Reads no event table.
Result<Summary> read_tables(const std::string& trace_folder);

}  // namespace mlrun::summary
