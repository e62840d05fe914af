// SPDX-License-Identifier: Apache-2.0
#include "runner/view/known_names.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/util/similar.h"
#include "runner/util/wrap.h"

namespace mlrun::view {

namespace {

constexpr size_t kPiped = 80, kNarrowest = 40;

}  // namespace

std::string known_names(const std::string& wrong, const std::vector<std::string>& known) {
  const std::string meant = util::most_similar(wrong, known);
  const size_t width = std::max(util::terminal_width(STDERR_FILENO, kPiped), kNarrowest);
  std::string lines = util::wrapped(fmt::format("{}", fmt::join(known, ", ")), width, "  ");
  lines.pop_back();
  const std::string what = meant.empty() ? "; it has:" : fmt::format("; did you mean {}? It has:", meant);
  return what + "\n" + lines;
}

}  // namespace mlrun::view
