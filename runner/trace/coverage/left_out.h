// SPDX-License-Identifier: Apache-2.0
// Calls left out by path rules: the rows of the table `left_out`. None of them is a loss.
#pragma once

#include <vector>

#include "runner/model/rows.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

// Makes a row for each process with calls that --include and --exclude leave out.
std::vector<model::LeftOutRow> find_left_out(SpoolIndex& index);

}  // namespace mlrun::trace
