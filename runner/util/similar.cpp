// SPDX-License-Identifier: Apache-2.0
#include "runner/util/similar.h"

#include <algorithm>

namespace mlrun::util {

namespace {

constexpr size_t kLongest = 64;

// The largest edit distance of a likely typo. It is 1 for short words: too many of them differ by two letters.
size_t close_enough(std::string_view word) { return word.size() <= 4 ? 1 : 2; }

}  // namespace

size_t edit_distance(std::string_view one, std::string_view other) {
  std::vector<size_t> before, last(other.size() + 1), now(other.size() + 1);  // rows of the table of distances
  for (size_t j = 0; j <= other.size(); j++) last[j] = j;
  for (size_t i = 1; i <= one.size(); i++) {
    now[0] = i;
    for (size_t j = 1; j <= other.size(); j++) {
      const size_t replaced = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      const bool is_exchanged = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (is_exchanged) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    std::swap(last, now);
  }
  return last.back();
}

std::string most_similar(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  if (word.size() < 2 || word.size() > kLongest) return best;
  size_t least = close_enough(word) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

}  // namespace mlrun::util
