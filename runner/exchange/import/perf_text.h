// SPDX-License-Identifier: Apache-2.0
// Reads the text of `perf script`, from a file or, for a perf.data, from the program perf itself.
#pragma once

#include <string>

#include "runner/exchange/import/trace_maker.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

Status read_perf_text(const std::string& path, TraceMaker& to);
Status read_perf_data(const std::string& path, TraceMaker& to);
[[nodiscard]] bool looks_like_perf_text(const std::string& text);

}  // namespace mlrun::exchange
