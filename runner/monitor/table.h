// SPDX-License-Identifier: Apache-2.0
// The board as text: a line for each GPU, then one for each process on it, with the columns of nvidia-smi's dmon and
// pmon.
#pragma once

#include <string>
#include <string_view>

#include "runner/monitor/gpu_board.h"

namespace mlrun::monitor {

// Ends with a newline. Unknown values are "-". `heading`: the first line.
std::string table_text(const GpuBoard& board, std::string_view heading);

}  // namespace mlrun::monitor
