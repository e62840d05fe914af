// SPDX-License-Identifier: Apache-2.0
// What the board tells, for people: a line for each GPU, then one for each process on it, as nvidia-smi's dmon and pmon
// have them side by side.
#pragma once

#include <string>
#include <string_view>

#include "runner/monitor/gpu_board.h"

namespace mlrun::monitor {

// Ends with a newline. What is not known is "-". `heading`: the first line.
std::string table_text(const GpuBoard& board, std::string_view heading);

}  // namespace mlrun::monitor
