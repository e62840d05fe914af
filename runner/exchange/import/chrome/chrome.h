// SPDX-License-Identifier: Apache-2.0
// Reads the Chrome trace format in all its phases and shapes, and what other tools write in it: PyTorch's profiler (Kineto),
// TensorFlow, rocprofiler, DFTracer.
#pragma once

#include <string>

#include "runner/exchange/import/input.h"
#include "runner/exchange/import/trace_maker.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

Status read_chrome(Input& input, const std::string& path, TraceMaker& to);

}  // namespace mlrun::exchange
