// SPDX-License-Identifier: Apache-2.0
// All lines of a file that is imported, with progress.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runner/exchange/import/input.h"
#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

// `offset`: of the line's first byte.
using SeeLine = std::function<Status(std::string_view line, int64_t offset)>;

// If a packed file ends early, its account gets a remark.
Status for_each_line(const std::string& path, TraceMaker& to, const SeeLine& see);
Status for_each_line(Input& input, const std::string& path, TraceMaker& to, const SeeLine& see);

}  // namespace mlrun::exchange
