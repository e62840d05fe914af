// SPDX-License-Identifier: Apache-2.0
// Verbs that other programs implement: mlrun-trace reads traces, mlrun-exchange joins and converts them, mlrun-sweep has the verbs of
// sweeps, the Python package pictures and the server for programs. This process becomes that program, with the same arguments.
#pragma once

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

Result<int> report(const Arguments& arguments);
Result<int> show(const Arguments& arguments);
Result<int> list(const Arguments& arguments);
Result<int> export_trace(const Arguments& arguments);
Result<int> import(const Arguments& arguments);
Result<int> convert(const Arguments& arguments);
Result<int> sweep(const Arguments& arguments);
Result<int> merge(const Arguments& arguments);
Result<int> compare(const Arguments& arguments);
Result<int> advise(const Arguments& arguments);
Result<int> plot(const Arguments& arguments);
Result<int> mcp(const Arguments& arguments);

}  // namespace mlrun::commands
