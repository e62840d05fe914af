// SPDX-License-Identifier: Apache-2.0
// Standard output as something that blocks of lines are shown on: on a terminal each takes the place of the one before,
// anywhere else they follow each other with an empty line between.
#pragma once

#include <string>
#include <string_view>

#include "runner/util/result.h"

namespace mlrun::monitor {

class Screen {
 public:
  Screen();
  // False: nobody reads any more.
  Result<bool> show(std::string_view block);

 private:
  bool is_terminal_;
  size_t lines_shown_ = 0;
};

// The block as it fits: lines cut to `columns` characters, at most `rows` of them.
std::string fitted(std::string_view block, size_t columns, size_t rows);

}  // namespace mlrun::monitor
