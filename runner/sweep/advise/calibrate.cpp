// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/calibrate.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/sweep/advise/over_time.h"
#include "runner/sweep/advise/verdict.h"
#include "runner/sweep/read/quantity.h"
#include "runner/util/log.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

constexpr size_t kAloneMax = 6;       // sites that are measured alone on the fast memory
constexpr double kAloneShare = 0.02;  // least share of the weight of all sites for that
constexpr const char* kSpread = "spread";

bool fits_fast_nodes(const AdviseOptions& options, double bytes) {
  return options.fast_bytes == 0 || bytes <= static_cast<double>(options.fast_bytes);
}

std::vector<size_t> sites_alone(const AdviseOptions& options, const TraceSites& found) {
  std::vector<size_t> numbers;
  for (size_t site = 0; site < std::min(kAloneMax, found.sites.size()); site++) {
    const bool is_large = found.sites[site].weight >= kAloneShare * found.weight;
    if (is_large && fits_fast_nodes(options, most_bytes(std::span(found.sites).subspan(site, 1))))
      numbers.push_back(site);
  }
  return numbers;
}

std::string alone_name(size_t site) { return fmt::format("site{}", site + 1); }

Series series_of(const Measured& measured, const std::string& name) {
  const auto found = measured.time_s.find(name);
  return found == measured.time_s.end() ? Series() : found->second;
}

// Empty: too few runs, or none whose placement was checked.
Series usable(const Measured& measured, const std::string& name) {
  Series series = series_of(measured, name);
  return series.size() < kLeastBlocks || measured.only_unverified.contains(name) ? Series() : series;
}

Calibration calibration_of(const AdviseOptions& options, const TraceSites& found, const Measured& measured) {
  Calibration calibration{usable(measured, kNear), series_of(measured, kFar), {}, {}, found.elsewhere.weight};
  for (const size_t site : sites_alone(options, found)) {
    if (Series series = usable(measured, alone_name(site)); !series.empty())
      calibration.alone[site] = std::move(series);
  }
  for (const Site& site : found.sites) calibration.weights.push_back(site.weight);
  return calibration;
}

// Runs with one site on the fast memory do not predict a spread.
bool take_spread(const Series& spread, Calibration& calibration) {
  const Comparison against_near = compare(calibration.near, spread, {});
  if (!has_interval(against_near) || against_near.high >= 0) return false;
  calibration.near = spread;
  calibration.alone.clear();
  return true;
}

// By complete blocks, then by runs. Once there are enough blocks, more are worth nothing.
std::pair<size_t, size_t> worth(const Calibration& calibration) {
  if (complete_blocks(calibration) >= kLeastBlocks) return {kLeastBlocks, 0};
  size_t runs = calibration.near.size();
  for (const auto& [site, series] : calibration.alone) runs += series.size();
  return {complete_blocks(calibration), runs};
}

// Each lacks one configuration: the site with the smallest weight first, near last.
std::vector<Calibration> with_one_less(const Calibration& calibration) {
  std::vector<Calibration> result;
  for (auto one = calibration.alone.rbegin(); one != calibration.alone.rend(); ++one) {
    result.push_back(calibration);
    result.back().alone.erase(one->first);
  }
  if (!calibration.near.empty()) {
    result.push_back(calibration);
    result.back().near.clear();
  }
  return result;
}

// Each block needs a run of every configuration. Where runs that were thrown out leave too few blocks, leaves out a configuration as if it had not
// been measured: the site with the smallest weight without which enough are complete; near, if no site is that; else what leaves the most.
void keep_blocks(Calibration& calibration) {
  while (complete_blocks(calibration) < kLeastBlocks) {
    const std::vector<Calibration> smaller = with_one_less(calibration);
    if (smaller.empty()) return;
    calibration = *std::ranges::max_element(smaller, {}, worth);
  }
}

// The measured configurations that are not in the calibration.
std::vector<std::string> lacking(const AdviseOptions& options, const TraceSites& found,
                                 const Calibration& calibration) {
  std::vector<std::string> names;
  if (calibration.near.empty() && all_fits(options, found)) names.emplace_back(kNear);
  for (const size_t site : sites_alone(options, found)) {
    if (!calibration.alone.contains(site)) names.push_back(alone_name(site));
  }
  return names;
}

std::string without_text(const Measurement& measurement) {
  if (measurement.without.empty()) return {};
  return fmt::format(
      "the calibration does without {}, of which too few runs can be used; the predicted interval is wider\n",
      fmt::join(measurement.without, ", "));
}

}  // namespace

bool all_fits(const AdviseOptions& options, const TraceSites& found) {
  return fits_fast_nodes(options, most_bytes(found.sites, found.elsewhere.lives));
}

PlacedRuns everything(const Advice& advice, const char* name, const std::string& target) {
  return {name, {other_rule(advice, target)}};
}

std::vector<PlacedRuns> calibration_runs(const AdviseOptions& options, const Advice& advice, const TraceSites& found) {
  std::vector<PlacedRuns> runs = {everything(advice, kFar, advice.slow)};
  if (all_fits(options, found)) {
    runs.push_back(everything(advice, kNear, advice.fast));
    if (!options.spread.target.empty()) runs.push_back(everything(advice, kSpread, options.spread.target));
  }
  for (const size_t site : sites_alone(options, found)) {
    runs.push_back({alone_name(site),
                    {other_rule(advice, advice.fast, found.sites[site].signature), other_rule(advice, advice.slow)}});
  }
  return runs;
}

std::vector<PlacedRuns> trial_runs(const Advice& advice, const std::string& file) {
  std::vector<PlacedRuns> runs = {
      everything(advice, kControl, kKernelsChoice), everything(advice, kFar, advice.slow), {kAdvised, {file}}};
  const bool was_unusable = advice.prediction && advice.prediction->near_s <= 0;  // in the calibration
  if (advice.all_fits && !was_unusable) runs.push_back(everything(advice, kNear, advice.fast));
  return runs;
}

Measurement measurement_of(const AdviseOptions& options, const TraceSites& found, const Measured& measured) {
  Measurement result;
  Calibration calibration = calibration_of(options, found, measured);
  result.is_spread = take_spread(usable(measured, kSpread), calibration);
  keep_blocks(calibration);
  if (const Status enough = check_blocks(calibration); !enough)
    result.why_not = enough.error().text;
  else if (calibration.near.empty() && calibration.alone.empty())
    result.why_not = "too few runs with blocks on the fast memory can be used";
  else
    result.calibration = std::move(calibration);
  if (result.calibration && !result.is_spread) result.without = lacking(options, found, *result.calibration);
  return result;
}

Result<Measurement> calibrate(const AdviseOptions& options, const Advice& advice, const TraceSites& found) {
  Experiment experiment{options.calibration, "the same command", advice.command, {},
                        advice.figure,       options.blocks,     options.quiet};
  experiment.configurations = calibration_runs(options, advice, found);
  Measurement result;
  if (experiment.configurations.size() == 1) {
    result.why_not = fmt::format("neither all blocks nor those of a large site fit on {}", options.fast);
    return result;
  }
  if (experiment.configurations[1].name != kNear) {
    util::say(fmt::format(
        "not all blocks fit on {} ({}): the runs have single sites there, {}and the predicted interval is wider",
        options.fast, util::size_text(options.fast_bytes),
        options.spread.target.empty() ? "" : "none is spread over both nodes, "));
  }
  auto measured = make_runs(experiment);
  if (!measured) return tl::make_unexpected(measured.error());
  const Status has_far = check_runs(experiment, {kFar}, *measured);
  if (!has_far && measured->failed > 0) return tl::make_unexpected(has_far.error());
  std::fputs(left_out_text(*measured).c_str(), stdout);
  if (!has_far) {
    result.why_not = has_far.error().text;
    return result;
  }
  result = measurement_of(options, found, *measured);
  std::fputs(without_text(result).c_str(), stdout);
  return result;
}

std::string left_out_text(const Measured& measured) {
  std::string text;
  if (measured.failed > 0) text += fmt::format("{} runs failed\n", measured.failed);
  if (measured.thrown_out > 0)
    text += fmt::format(
        "{} runs were thrown out: less than 95 % of the pages, or of the allocated bytes, of a rule were where it "
        "wants them, or a rule for call sites had no block\n",
        measured.thrown_out);
  if (measured.unverified > 0)
    text += fmt::format(
        "the placement of {} runs was not checked: no page of theirs, or of a rule for call sites, was sampled\n",
        measured.unverified);
  return text;
}

}  // namespace mlrun::sweep
