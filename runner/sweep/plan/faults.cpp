// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/faults.h"

#include <algorithm>

#include <fmt/format.h>

#include "runner/util/text.h"

namespace mlrun::sweep {

void Faults::add(const Place& place, const std::string& what) {
  std::string text = place.file;
  if (place.line > 0) text += fmt::format(":{}", place.line);
  if (!place.key.empty()) text += (text.empty() ? "" : ": ") + place.key;
  lines_.emplace_back(place.line, util::printable(text + ": " + what));
}

Error Faults::error() const {
  auto lines = lines_;
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  Error error{lines.front().second};
  for (size_t i = 1; i < lines.size(); i++) error.below += "mlrun: " + lines[i].second + "\n";
  return error;
}

}  // namespace mlrun::sweep
