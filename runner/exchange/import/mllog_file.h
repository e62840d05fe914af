// SPDX-License-Identifier: Apache-2.0
// Reads a log with lines of MLPerf (":::MLLOG"): marks and phases. Other lines are none of its events.
#pragma once

#include <string>

#include "runner/exchange/import/trace_maker.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

Status read_mllog(const std::string& path, TraceMaker& to);

}  // namespace mlrun::exchange
