// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known word that a mistyped one is closest to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mlrun::util {

// The number of letters to insert, delete, replace, or exchange with their neighbour, that makes one word of the other.
[[nodiscard]] size_t edit_distance(std::string_view one, std::string_view other);

// Empty: none is close enough to be meant. Of equally close ones the first.
[[nodiscard]] std::string most_similar(std::string_view word, const std::vector<std::string>& known);

}  // namespace mlrun::util
