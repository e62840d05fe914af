// SPDX-License-Identifier: Apache-2.0
// What was left out because the user asked for less: the rows of the table `left_out`. Nothing in it is a loss.
#pragma once

#include <vector>

#include "runner/model/rows.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

// A row for each process with calls on files that --include and --exclude leave out.
std::vector<model::LeftOutRow> find_left_out(SpoolIndex& index);

}  // namespace mlrun::trace
