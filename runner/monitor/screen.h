// SPDX-License-Identifier: Apache-2.0
// Shows blocks of lines on standard output. On a terminal each block replaces the previous one; elsewhere an empty line
// separates them. Never blocks, even if the reader stops reading (a pager, Ctrl-S).
#pragma once

#include <string>
#include <string_view>

#include "runner/util/result.h"

namespace mlrun::monitor {

class Screen {
 public:
  Screen();
  // Shows a block, or skips it while the previous block is not fully written. False: the reader has closed the output.
  Result<bool> show(std::string_view block);
  // Writes more of a pending block; to be called regularly. False: the reader has closed the output.
  Result<bool> go_on();

 private:
  bool is_terminal_;
  std::string rest_;  // unwritten part of the pending block
  size_t lines_shown_ = 0;
};

// The block cut to `columns` characters per line and `rows` lines.
std::string fitted(std::string_view block, size_t columns, size_t rows);

}  // namespace mlrun::monitor
