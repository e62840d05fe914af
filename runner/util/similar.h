// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known word that a mistyped one is closest to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mlrun::util {

// The number of insertions, deletions, replacements and transpositions that turn one word into the other.
[[nodiscard]] size_t edit_distance(std::string_view one, std::string_view other);

// The known word with the smallest edit distance; the first, if several are equally close. Empty: none is close enough.
[[nodiscard]] std::string most_similar(std::string_view word, const std::vector<std::string>& known);

}  // namespace mlrun::util
