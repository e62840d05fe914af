// SPDX-License-Identifier: Apache-2.0
// One SQLite database with all tables of the trace, run.json in the table run_json, and Heimdallr's tables (runs, allocs, access) as
// views, so that its queries run.
#pragma once

#include "runner/util/result.h"

namespace mlrun::exchange {

class Export;

Status write_sqlite(Export& job);

}  // namespace mlrun::exchange
