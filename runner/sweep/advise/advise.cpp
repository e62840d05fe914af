// SPDX-License-Identifier: Apache-2.0
// The verb `mlrun advise`.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "runner/sweep/advise/advice.h"
#include "runner/sweep/advise/advise_options.h"
#include "runner/sweep/advise/experiment.h"
#include "runner/sweep/advise/huge_setting.h"
#include "runner/sweep/advise/other_build.h"
#include "runner/sweep/advise/over_time.h"
#include "runner/sweep/advise/predict.h"
#include "runner/sweep/advise/recorded_run.h"
#include "runner/sweep/advise/trace_sites.h"
#include "runner/sweep/advise/verdict.h"
#include "runner/sweep/read/quantity.h"
#include "runner/sweep/verbs.h"
#include "runner/util/file_io.h"
#include "runner/util/log.h"
#include "runner/util/text.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

namespace {

constexpr uint64_t kMinBytes = 64 << 10;  // libc's allocator keeps smaller blocks
constexpr size_t kSitesMax = 250;         // signatures that rules have room for
constexpr size_t kAloneMax = 6;           // sites that --calibrate measures alone on the fast memory
constexpr double kAloneShare = 0.02;      // least share of the weight of all sites for that
constexpr const char* kSpread = "spread";

// Fails where this memory cannot be had. Returns a line on what it is worth, or nothing.
Result<std::string> check_fast(const std::string& fast) {
  if (fast != "huge") return std::string();
  auto remark = huge_setting();
  if (remark && !remark->empty()) *remark += "\n";
  return remark;
}

Status take_smallest(uint64_t recorded_bytes, Advice& advice) {
  advice.min_bytes = std::max({kMinBytes, recorded_bytes, advice.fast == "huge" ? kHugePageBytes : 0});
  if (advice.capacity_bytes >= advice.min_bytes) return {};
  return fail(fmt::format("--fast: {} are less than the smallest block, {}; sizes have a unit, such as 16G",
                          util::size_text(advice.capacity_bytes), util::size_text(advice.min_bytes)));
}

std::string rule_of(const Advice& advice, const std::string& condition, const std::string& target) {
  return fmt::format("size >= {}{} -> {}", advice.min_bytes, condition, target);
}

PlacedRuns everything(const Advice& advice, const char* name, const std::string& target) {
  return {name, {rule_of(advice, "", target)}};
}

std::string alone_name(size_t site) { return fmt::format("site{}", site + 1); }

// Runs whose times were not used, or whose placement was not checked.
std::string left_out_text(const Measured& measured) {
  std::string text;
  if (measured.failed > 0) text += fmt::format("{} runs failed\n", measured.failed);
  if (measured.thrown_out > 0)
    text += fmt::format(
        "{} runs were thrown out: less than 95 % of the pages, or of the allocated bytes, of a rule were where it "
        "wants them\n",
        measured.thrown_out);
  if (measured.unverified > 0)
    text +=
        fmt::format("the placement of {} runs was not checked: no page of theirs was sampled\n", measured.unverified);
  return text;
}

struct Measurement {
  Calibration calibration;
  bool is_spread = false;  // calibration.near are the runs over both nodes, which were faster than on the fast one
};

// Runs with all blocks on the fast memory, on the slow one and over both nodes, and with each of the first sites alone on the fast one.
Result<Measurement> calibrate(const AdviseOptions& options, const Advice& advice, const TraceSites& found) {
  Experiment experiment{options.calibration, "the same command", advice.command, {},
                        advice.figure,       options.blocks,     options.quiet};
  experiment.configurations = {everything(advice, kNear, advice.fast), everything(advice, kFar, advice.slow)};
  if (!options.spread.target.empty())
    experiment.configurations.push_back(everything(advice, kSpread, options.spread.target));
  size_t alone = 0;
  while (alone < std::min(kAloneMax, found.sites.size()) && found.sites[alone].weight >= kAloneShare * found.weight) {
    experiment.configurations.push_back({alone_name(alone),
                                         {rule_of(advice, " and site " + found.sites[alone].signature, advice.fast),
                                          rule_of(advice, "", advice.slow)}});
    alone++;
  }
  auto measured = make_runs(experiment, {kNear, kFar});
  if (!measured) return tl::make_unexpected(measured.error());
  Measurement result{{measured->time_s[kNear], measured->time_s[kFar], {}, {}}, false};
  const Series spread = measured->time_s[kSpread];
  const Comparison against_near = compare(result.calibration.near, spread, {});
  result.is_spread = has_interval(against_near) && against_near.high < 0;
  // Runs with one site on the fast node do not predict a spread.
  if (result.is_spread) result.calibration.near = spread;
  for (size_t site = 0; site < alone && !result.is_spread; site++)
    result.calibration.alone.push_back(measured->time_s[alone_name(site)]);
  for (const Site& site : found.sites) result.calibration.weights.push_back(site.weight);
  result.calibration.weight_elsewhere = found.elsewhere.weight;
  std::fputs(left_out_text(*measured).c_str(), stdout);
  return result;
}

// Why a trace has no site, and what to do.
std::string no_sites_text(const Advice& advice, const TraceSites& found) {
  const std::string blocks = fmt::format("blocks of {} and more", util::size_text(advice.min_bytes));
  if (found.blocks == 0) return fmt::format("{} has no {}", advice.trace, blocks);
  if (found.without_build_id == 0)
    return fmt::format("{} has no {} with a call stack; record it with --stacks=16 --alloc-min=64K", advice.trace,
                       blocks);
  const std::string& file = found.file_without_build_id;
  return fmt::format(
      "{}: {} of {} {} are allocated by code without a build id{}, by which rules know it; link it with "
      "-Wl,--build-id and record it again",
      advice.trace, found.without_build_id, found.blocks, blocks,
      file.empty() ? "" : fmt::format(" ({})", util::printable(file)));
}

// The sites that rules have room for.
std::span<const Site> ranked_sites(const TraceSites& found) {
  return std::span(found.sites).first(std::min(found.sites.size(), kSitesMax));
}

std::string chosen_text(const Advice& advice, const RecordedRun& recorded, const TraceSites& found) {
  std::string text = fmt::format("{} blocks of {} and more, {} sites; a site's gain is its {}\n", found.blocks,
                                 util::size_text(advice.min_bytes), found.sites.size(), advice.ranked_by);
  if (found.sites.size() > kSitesMax)
    text += fmt::format("{} sites with the smallest gains stay on the slow memory: rules have room for {} sites\n",
                        found.sites.size() - kSitesMax, kSitesMax);
  if (found.unseen > 0)
    text += fmt::format("{} sites have no access data: each is taken to be as hot as the others on average\n",
                        found.unseen);
  if (const size_t without_site = found.elsewhere.lives.size() - found.cut; without_site > 0)
    text += fmt::format(
        "{} blocks have no call stack, or come from a file without a build id, and stay on the slow memory\n",
        without_site);
  if (found.cut > 0)
    text += fmt::format(
        "{} blocks ({}) stay on the slow memory: their call stacks end at code without a build id, and those of other "
        "sites begin like them\n",
        found.cut, util::size_text(found.cut_bytes));
  if (recorded.has_losses)
    text +=
        "records of this trace were lost (table loss): blocks may be missing, or seem to live longer than they did\n";
  if (!recorded.command.failure.empty())
    text += fmt::format("the recorded command failed ({}): this is for what it allocated until then\n",
                        recorded.command.failure);
  if (advice.signatures.empty())
    text += fmt::format("no site that gains anything fits into {}\n", util::size_text(advice.capacity_bytes));
  text +=
      fmt::format("chosen: {} sites with {:.1f} % of the gain of all sites; no choice can have more than {:.1f} %\n",
                  advice.signatures.size(), 100 * advice.gain, 100 * advice.gain_most);
  for (const std::string& label : advice.labels) text += "  " + util::printable(label) + "\n";
  if (!advice.spread.empty())
    text +=
        fmt::format("they go over both nodes ({}): all blocks there were measured faster than all on the fast node\n",
                    advice.spread);
  if (advice.prediction) {
    const Prediction& said = *advice.prediction;
    text += fmt::format(
        "predicted: {:+.1f} % ({:+.1f} to {:+.1f} %) against all blocks on the slow memory ({:.3f} s; {} "
        "{:.3f} "
        "s)\n",
        100 * said.change, 100 * said.low, 100 * said.high, said.far_s,
        advice.spread.empty() ? "all on the fast one" : "all over both nodes", said.near_s);
  } else {
    text += "no time is predicted: this is a ranking; --calibrate measures gains\n";
  }
  return text;
}

// `gains`: of all sites, those beyond kSitesMax too. Returns the indices of the chosen sites.
std::vector<size_t> choose(const TraceSites& found, std::vector<double> gains, Advice& advice) {
  const double all = std::max(std::accumulate(gains.begin(), gains.end(), 0.0), 1e-300);
  const std::span<const Site> sites = ranked_sites(found);
  gains.resize(sites.size());
  const Chosen chosen = choose_over_time(sites, gains, static_cast<double>(advice.capacity_bytes));
  advice.gain = chosen.gain / all;
  advice.gain_most = std::min(1.0, chosen.bound / all);
  for (const size_t site : chosen.sites) {
    const Site& one = sites[site];
    advice.signatures.push_back(one.signature);
    advice.labels.push_back(one.label);
    advice.frames.insert(advice.frames.end(), one.frames.begin(), one.frames.end());
  }
  return chosen.sites;
}

Status advise(const AdviseOptions& options) {
  Advice advice;
  advice.trace = options.source;
  advice.fast = options.fast;
  advice.slow = options.slow;
  advice.figure = options.figure;
  advice.capacity_bytes = options.capacity_bytes;
  const auto recorded = read_recorded_run(options.source);
  if (!recorded) return tl::make_unexpected(recorded.error());
  advice.command = recorded->command;
  if (const Status possible = take_smallest(recorded->min_bytes, advice); !possible) return possible;
  const auto remark = check_fast(options.fast);
  if (!remark) return tl::make_unexpected(remark.error());
  const auto found = read_sites(options.source, advice.min_bytes, recorded->end_ns);
  if (!found) return tl::make_unexpected(found.error());
  if (found->sites.empty()) return fail(no_sites_text(advice, *found));
  if (const double most = most_bytes(found->sites, found->elsewhere.lives);
      !options.calibration.empty() && options.fast_bytes != 0 && most > static_cast<double>(options.fast_bytes)) {
    util::say(fmt::format(
        "{} are allocated at one moment, more than {} has ({}): calibration runs that do not fit there are thrown out",
        util::size_text(static_cast<uint64_t>(most)), options.fast, util::size_text(options.fast_bytes)));
  }
  std::vector<double> gains;
  for (const Site& site : found->sites) gains.push_back(site.weight);
  advice.ranked_by = found->ranked_by;
  std::optional<Calibration> calibration;
  if (!options.calibration.empty()) {
    auto made = calibrate(options, advice, *found);
    if (!made) return tl::make_unexpected(made.error());
    if (made->is_spread) {
      advice.spread = options.spread.target;
      advice.capacity_bytes =
          static_cast<uint64_t>(static_cast<double>(advice.capacity_bytes) / options.spread.fast_share);
    }
    calibration = std::move(made->calibration);
    gains = site_gains(*calibration);
    advice.ranked_by =
        made->is_spread ? "share of the seconds that all save, by " + found->ranked_by : "measured seconds saved";
  }
  const std::vector<size_t> chosen = choose(*found, gains, advice);
  if (calibration) {
    const auto prediction = predict(*calibration, chosen);
    if (!prediction) return tl::make_unexpected(prediction.error());
    advice.prediction = *prediction;
  }
  if (const Status written = util::write_atomically(options.output, advice_text(advice), 0644); !written)
    return written;
  std::fputs((*remark + chosen_text(advice, *recorded, *found)).c_str(), stdout);
  if (calibration && !options.spread.why.empty() && options.fast != "huge")
    std::fputs(fmt::format("no spread over both nodes was tried: {}\n", options.spread.why).c_str(), stdout);
  return {};
}

// Writes the file again for the present builds of its libraries.
Status renew(const std::string& file, const std::string& output) {
  auto advice = read_advice(file);
  if (!advice) return tl::make_unexpected(advice.error());
  const OtherBuilds others = find_in_other_builds(*advice);
  if (const Status written = util::write_atomically(output, advice_text(*advice), 0644); !written) return written;
  std::string text;
  for (const std::string& path : others.files)
    text += "not the build that was recorded: " + util::printable(path) + "\n";
  text += fmt::format("of {} sites {} are recognised by the names of functions, {} are not found\n",
                      advice->signatures.size(), others.by_name, others.lost);
  std::fputs(text.c_str(), stdout);
  return {};
}

// The exit status.
Result<int> try_advice(const AdviseOptions& options, const std::string& file) {
  const auto advice = read_advice(file);
  if (!advice) return tl::make_unexpected(advice.error());
  const auto remark = check_fast(advice->fast);
  if (!remark) return tl::make_unexpected(remark.error());
  Experiment experiment{
      options.trial,   fmt::format("mlrun advise '{}' --try '{}' --blocks {}", file, options.trial, options.blocks),
      advice->command, {},
      advice->figure,  options.blocks,
      options.quiet};
  experiment.configurations = {everything(*advice, kControl, "default"),
                               everything(*advice, kNear, advice->fast),
                               everything(*advice, kFar, advice->slow),
                               {kAdvised, {file}}};
  const auto measured = make_runs(experiment, {kFar, kAdvised});
  if (!measured) return tl::make_unexpected(measured.error());
  const TryResult result = judge(*advice, measured->time_s, measured->only_unverified);
  const std::string text = *remark + left_out_text(*measured) + try_text(*advice, measured->time_s, result);
  std::fputs(text.c_str(), stdout);
  return result.held == Held::kFailed ? 1 : 0;
}

}  // namespace

Result<int> advise(const Arguments& arguments) {
  const auto parsed = parse_advise(arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const AdviseOptions& options = **parsed;
  Status status;
  if (!options.is_file) status = advise(options);
  if (options.is_file && !options.output.empty()) status = renew(options.source, options.output);
  if (!status) return tl::make_unexpected(status.error());
  if (options.trial.empty()) return 0;
  return try_advice(options, options.output.empty() ? options.source : options.output);
}

}  // namespace mlrun::sweep
