// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/verdict.h"

#include <string>

#include <fmt/format.h>

#include "runner/sweep/read/quantity.h"

namespace mlrun::sweep {

namespace {

Series series_named(const std::map<std::string, Series>& time_s, const char* name) {
  const auto found = time_s.find(name);
  return found == time_s.end() ? Series() : found->second;
}

std::string difference_text(const Comparison& comparison) {
  if (!has_interval(comparison)) return "too few runs for an interval";
  return fmt::format("{} ({})", change_text(comparison.difference), changes_text(comparison.low, comparison.high));
}

std::string need_text(const Comparison& comparison) {
  return comparison.needs_runs ? fmt::format("; about {} more blocks would", *comparison.needs_runs) : "";
}

std::string held_text(const TryResult& result) {
  switch (result.held) {
    case Held::kHeld: return "the prediction held";
    case Held::kFailed: return "the prediction did not hold";
    case Held::kCannotTell: return "cannot tell whether the prediction holds" + need_text(result.found);
    case Held::kNoPrediction: return "no time was predicted: the advice is a ranking";
  }
  return {};
}

}  // namespace

TryResult judge(const Advice& advice, const std::map<std::string, Series>& time_s) {
  TryResult result;
  result.found = compare(series_named(time_s, kFar), series_named(time_s, kAdvised), {});
  if (!advice.prediction) return result;
  const Prediction& said = *advice.prediction;
  const Comparison& found = result.found;
  if (!has_interval(found)) {
    result.held = Held::kCannotTell;
    return result;
  }
  const bool meets = found.low <= said.high && said.low <= found.high;
  const bool maybe_nothing = found.low <= 0 && found.high >= 0, said_something = said.high < 0 || said.low > 0;
  result.held = !meets ? Held::kFailed : maybe_nothing && said_something ? Held::kCannotTell : Held::kHeld;
  return result;
}

std::string try_text(const Advice& advice, const std::map<std::string, Series>& time_s, const TryResult& result) {
  std::string text;
  for (const char* name : {kControl, kNear, kFar, kAdvised}) {
    const Series series = series_named(time_s, name);
    const Description description = describe(series);
    const std::string against =
        std::string(name) == kFar
            ? ""
            : "   against far " + difference_text(compare(series_named(time_s, kFar), series, {}));
    text += fmt::format("{:<8} {:>9.3f} s median of {} runs{}\n", name, description.median, description.n, against);
  }
  if (advice.prediction) {
    text += fmt::format("predicted, before these runs: {} ({}) against far\n", change_text(advice.prediction->change),
                        changes_text(advice.prediction->low, advice.prediction->high));
  }
  return text + held_text(result) + "\n";
}

}  // namespace mlrun::sweep
