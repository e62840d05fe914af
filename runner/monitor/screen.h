// SPDX-License-Identifier: Apache-2.0
// Standard output as something that blocks of lines are shown on: on a terminal each takes the place of the one before,
// anywhere else they follow each other with an empty line between. Never waits: whoever shows something has more to do, and a
// reader may stand still (a pager, Ctrl-S).
#pragma once

#include <string>
#include <string_view>

#include "runner/util/result.h"

namespace mlrun::monitor {

class Screen {
 public:
  Screen();
  // Left out while the block before is not out. False: nobody reads any more.
  Result<bool> show(std::string_view block);
  // Writes more of what the reader had no room for; to be called now and then. False: as above.
  Result<bool> go_on();

 private:
  bool is_terminal_;
  std::string rest_;  // of the block
  size_t lines_shown_ = 0;
};

// The block as it fits: lines cut to `columns` characters, at most `rows` of them.
std::string fitted(std::string_view block, size_t columns, size_t rows);

}  // namespace mlrun::monitor
