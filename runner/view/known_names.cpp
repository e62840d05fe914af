// SPDX-License-Identifier: Apache-2.0
#include "runner/view/known_names.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/util/similar.h"
#include "runner/util/text.h"
#include "runner/util/wrap.h"

namespace mlrun::view {

namespace {

constexpr size_t kPiped = 80, kNarrowest = 40;

}  // namespace

tl::unexpected<Error> unknown_name(const std::string& what, const std::string& wrong,
                                   const std::vector<std::string>& known) {
  const std::string meant = util::most_similar(wrong, known);
  const size_t width = std::max(util::terminal_width(STDERR_FILENO, kPiped), kNarrowest);
  Error error;
  error.text = what + (meant.empty() ? "; it has:" : fmt::format("; did you mean {}? It has:", meant));
  error.below = util::wrapped(util::printable(fmt::format("{}", fmt::join(known, ", "))), width, "  ");
  return tl::make_unexpected(std::move(error));
}

tl::unexpected<Error> of_option(const char* option, Error error) {
  error.text.insert(0, option);
  return tl::make_unexpected(std::move(error));
}

}  // namespace mlrun::view
