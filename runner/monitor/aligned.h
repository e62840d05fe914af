// SPDX-License-Identifier: Apache-2.0
// Lays out cells in columns, each as wide as its widest cell.
#pragma once

#include <string>
#include <vector>

namespace mlrun::monitor {

using Cells = std::vector<std::string>;

// One line for each row, with a newline. Cells are right-aligned, but left-aligned in the last `left` columns. Requires:
// at least one row, and the same number of cells in all rows.
std::string aligned(const std::vector<Cells>& rows, size_t left);

}  // namespace mlrun::monitor
