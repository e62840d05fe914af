// SPDX-License-Identifier: Apache-2.0
// Figures of a run from its trace. The execution of a sweep stores them; `mlrun compare` of two traces shows them.
#pragma once

#include <map>
#include <string>

#include "runner/util/result.h"

namespace mlrun::sweep {

// Figures of a finished trace, by name: wall_s, user_s, sys_s of run.json, and io_s, bytes_read, epoch_1_s ... of the small tables. Reads
// no event table. What is unknown is absent.
Result<std::map<std::string, double>> figures_of_trace(const std::string& trace_folder);

}  // namespace mlrun::sweep
