// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/outside.h"

#include <vector>

#include <fmt/format.h>

#include "runner/sweep/read/quantity.h"

namespace mlrun::sweep {
namespace {

constexpr size_t kMostHints = 3;

}  // namespace

std::map<const RunRow*, OutsideRun> runs_outside(const Sweep& sweep) {
  std::map<const RunRow*, OutsideRun> all;
  for (const Cell& cell : cells_of(sweep)) {
    std::vector<RunFigures> figures;
    std::vector<const RunRow*> runs;
    for (const RunRow* run : cell.done) {
      const auto wall = run->figures.find("wall_s");
      if (wall == run->figures.end()) continue;
      RunFigures& one = figures.emplace_back(wall->second, run->figures);
      one.figures.insert(run->machine.begin(), run->machine.end());
      runs.push_back(run);
    }
    for (OutsideRun& outside : explain_runs(figures)) all.emplace(runs[outside.run], std::move(outside));
  }
  return all;
}

std::string outside_text(const RunRow& run, const OutsideRun& outside, const util::Glyphs& glyphs) {
  std::string text =
      fmt::format("{}, {} against the {} of the others", figure_text("wall_s", run.figures.at("wall_s"), glyphs),
                  change_text(outside.difference), figure_text("wall_s", outside.usual_s, glyphs));
  if (outside.hints.empty()) return text + "; no other recorded figure differs";
  text += "; likely: ";
  for (size_t i = 0; i < outside.hints.size() && i < kMostHints; ++i) {
    const Hint& hint = outside.hints[i];
    text += fmt::format("{}{}, {} {} against {}", i == 0 ? "" : "; ", hint.cause, hint.figure,
                        figure_text(hint.figure, hint.value, glyphs), figure_text(hint.figure, hint.usual, glyphs));
  }
  return text;
}

Json json_of(const OutsideRun& outside) {
  Json hints = Json::array();
  for (const Hint& hint : outside.hints) {
    hints.push_back({{"figure", hint.figure},
                     {"cause", hint.cause},
                     {"value", hint.value},
                     {"usual", hint.usual},
                     {"weight", hint.weight}});
  }
  return {{"usual_s", outside.usual_s}, {"difference", outside.difference}, {"hints", std::move(hints)}};
}

}  // namespace mlrun::sweep
