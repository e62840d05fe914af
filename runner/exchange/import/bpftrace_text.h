// SPDX-License-Identifier: Apache-2.0
// Reads the text files of the bpftrace scripts of discslab's tracing tools and their forerunners: a heading that begins with TIMESTAMP,
// then one event a line. The columns come from the heading; the time stamp is the end of the event.
#pragma once

#include <string>

#include "runner/exchange/import/trace_maker.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

Status read_bpftrace(const std::string& path, TraceMaker& to);
[[nodiscard]] bool looks_like_bpftrace(const std::string& text);

}  // namespace mlrun::exchange
