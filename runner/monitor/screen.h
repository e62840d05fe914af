// SPDX-License-Identifier: Apache-2.0
// Shows blocks of lines on standard output: on a terminal each replaces the one before, elsewhere they follow each
// other with an empty line between. Never blocks, although a reader may stop reading (a pager, Ctrl-S).
#pragma once

#include <string>
#include <string_view>

#include "runner/util/result.h"

namespace mlrun::monitor {

class Screen {
 public:
  Screen();
  // Skipped while the block before is not fully written. False: the reader has closed the output.
  Result<bool> show(std::string_view block);
  // Writes more of a pending block; to be called regularly. False: as above.
  Result<bool> go_on();

 private:
  bool is_terminal_;
  std::string rest_;  // of the pending block
  size_t lines_shown_ = 0;
};

// Fits the block: lines cut to `columns` characters, at most `rows` of them.
std::string fitted(std::string_view block, size_t columns, size_t rows);

}  // namespace mlrun::monitor
