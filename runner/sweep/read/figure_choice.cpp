// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/figure_choice.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/util/similar.h"

namespace mlrun::sweep {

std::string known_words(const std::string& word, const std::vector<std::string>& known) {
  const std::string similar = util::most_similar(word, known);
  if (!similar.empty()) return fmt::format("; did you mean {}?", similar);
  return known.empty() ? "; there is none" : fmt::format("; there are: {}", fmt::join(known, ", "));
}

Result<std::string> find_figure(const std::string& name, const std::vector<std::string>& known,
                                const std::string& option) {
  for (const std::string& candidate : {name, name + "_s", name + "_bytes"}) {
    if (std::ranges::find(known, candidate) != known.end()) return candidate;
  }
  return fail(fmt::format("{}: no run has the figure {}{}", option, name, known_words(name, known)));
}

Result<std::vector<std::string>> find_figures(const std::vector<std::string>& names,
                                              const std::vector<std::string>& known, const std::string& option) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    auto figure = find_figure(name, known, option);
    if (!figure) return tl::make_unexpected(figure.error());
    if (std::ranges::find(found, *figure) == found.end()) found.push_back(std::move(*figure));
  }
  return found;
}

}  // namespace mlrun::sweep
