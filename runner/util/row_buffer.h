// SPDX-License-Identifier: Apache-2.0
// Rows that one thread makes and another one fetches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace mlrun::util {

// Moves rows while `to` has fewer than `most`. Returns the number that did not fit. `from` is empty afterwards.
template <typename Row>
[[nodiscard]] uint64_t move_rows(std::vector<Row>& from, std::vector<Row>& to, size_t most) {
  const size_t moved = std::min(most - std::min(most, to.size()), from.size());
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(moved);
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(end));
  const uint64_t dropped = from.size() - moved;
  from.clear();
  return dropped;
}

}  // namespace mlrun::util
