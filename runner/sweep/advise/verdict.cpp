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

bool has_no_change(double low, double high) { return low <= 0 && high >= 0; }

// Which further runs would decide between held and not held.
std::string need_text(const Prediction& said, const TryResult& result) {
  const Comparison& found = result.found;
  if (!result.unverified.empty())
    return fmt::format(
        "no run of '{}' had a sampled page of each rule for call sites, or none at all, so where its blocks were is "
        "unknown; a command that runs for some seconds would tell",
        result.unverified);
  if (!has_interval(found)) return fmt::format("{} blocks with runs of both far and advised would tell", kLeastRuns);
  if (has_no_change(said.low, said.high))
    return "the predicted interval contains 0; a narrower one would tell (a new --calibrate folder with more --blocks)";
  const std::string blocks = found.needs_runs
                                 ? fmt::format("about {} more blocks would tell (a new --try folder with --blocks {})",
                                               *found.needs_runs, static_cast<int64_t>(found.pairs) + *found.needs_runs)
                                 : "more blocks would tell (a new --try folder with more --blocks)";
  return "the measured interval contains 0; " + blocks;
}

std::string held_text(const Advice& advice, const TryResult& result) {
  switch (result.held) {
    case Held::kHeld: return "the prediction held";
    case Held::kFailed: return "the prediction did not hold";
    case Held::kCannotTell:
      return "cannot tell whether the prediction holds: " + need_text(advice.prediction.value_or(Prediction()), result);
    case Held::kNoPrediction: return "no time was predicted: the advice is a ranking";
  }
  return {};
}

}  // namespace

TryResult judge(const Advice& advice, const std::map<std::string, Series>& time_s,
                const std::set<std::string>& only_unverified) {
  TryResult result;
  for (const char* const name : {kFar, kAdvised}) {
    if (only_unverified.contains(name)) result.unverified = name;
  }
  result.found = compare(series_named(time_s, kFar), series_named(time_s, kAdvised), {});
  if (!advice.prediction) return result;
  const Prediction& said = *advice.prediction;
  const Comparison& found = result.found;
  if (!has_interval(found) || !result.unverified.empty()) {
    result.held = Held::kCannotTell;
    return result;
  }
  const bool meets = found.low <= said.high && said.low <= found.high;
  // An interval that contains 0 confirms nothing.
  const bool is_open = has_no_change(said.low, said.high) || has_no_change(found.low, found.high);
  result.held = !meets ? Held::kFailed : is_open ? Held::kCannotTell : Held::kHeld;
  return result;
}

std::string try_text(const Advice& advice, const std::map<std::string, Series>& time_s, const TryResult& result) {
  std::string text;
  for (const char* name : {kControl, kNear, kFar, kAdvised}) {
    const Series series = series_named(time_s, name);
    if (series.empty()) continue;
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
  return text + held_text(advice, result) + "\n";
}

}  // namespace mlrun::sweep
