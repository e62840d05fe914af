// SPDX-License-Identifier: Apache-2.0
// Cells as columns, each as wide as its widest cell.
#pragma once

#include <string>
#include <vector>

namespace mlrun::monitor {

using Cells = std::vector<std::string>;

// Lines with a newline each; cells are right-aligned, those of the last `left` columns left-aligned. Requires: at least
// one row, and equally many cells in each.
std::string aligned(const std::vector<Cells>& rows, size_t left);

}  // namespace mlrun::monitor
