// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/aligned.h"

#include <algorithm>

#include <fmt/format.h>

namespace mlrun::monitor {

std::string aligned(const std::vector<Cells>& rows, size_t left) {
  std::vector<size_t> widths(rows.front().size());
  for (const Cells& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool is_left = i + left >= row.size();
      line += fmt::format(fmt::runtime(is_left ? "{}{:<{}}" : "{}{:>{}}"), i == 0 ? "" : "  ", row[i], widths[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace mlrun::monitor
