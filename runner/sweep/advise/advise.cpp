// SPDX-License-Identifier: Apache-2.0
// The verb `mlrun advise`.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "runner/placement/resolve.h"
#include "runner/sweep/advise/advice.h"
#include "runner/sweep/advise/advise_options.h"
#include "runner/sweep/advise/apart.h"
#include "runner/sweep/advise/calibrate.h"
#include "runner/sweep/advise/experiment.h"
#include "runner/sweep/advise/huge_setting.h"
#include "runner/sweep/advise/other_build.h"
#include "runner/sweep/advise/over_time.h"
#include "runner/sweep/advise/predict.h"
#include "runner/sweep/advise/recorded_run.h"
#include "runner/sweep/advise/trace_sites.h"
#include "runner/sweep/advise/verdict.h"
#include "runner/sweep/verbs.h"
#include "runner/util/file_io.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

constexpr size_t kSitesMax = 250;  // signatures that rules have room for

// Fails where this memory cannot be had. Returns a line on what it is worth, or nothing.
Result<std::string> check_fast(const std::string& fast) {
  if (fast != "huge") return std::string();
  auto remark = huge_setting();
  if (remark && !remark->empty()) *remark += '\n';
  return remark;
}

Status take_smallest(uint64_t recorded_bytes, Advice& advice) {
  advice.min_bytes = std::max({kLeastPlacedBytes, recorded_bytes, advice.fast == "huge" ? kHugePageBytes : 0});
  if (advice.capacity_bytes >= advice.min_bytes) return {};
  return fail(fmt::format("--fast: {} are less than the smallest block, {}; sizes have a unit, such as 16G",
                          util::size_text(advice.capacity_bytes), util::size_text(advice.min_bytes)));
}

// What was chosen, and what is said about it.
struct Choice {
  std::vector<size_t> sites;
  size_t beyond = 0;        // sites that fit by themselves, for which rules have no room
  std::string why_no_time;  // why no time is predicted; empty: it is
};

// What the advice leaves out, and what it does not know.
std::string remarks_text(const RecordedRun& recorded, const TraceSites& found, const Choice& choice) {
  std::string text;
  if (choice.beyond > 0)
    text += fmt::format("{} sites with the smallest gains stay on the slow memory: rules have room for {} sites\n",
                        choice.beyond, kSitesMax);
  if (found.unseen > 0)
    text += fmt::format("{} sites have no access data: each is taken to be as hot as the others on average\n",
                        found.unseen);
  if (const auto outside = recorded.outside.find(found.rung); outside != recorded.outside.end())
    text += fmt::format(
        "{:.1f} % of the samples of --access={} are in no listed block: mappings of the program, stacks, files and "
        "blocks below --alloc-min, which this advice does not move\n",
        100 * outside->second, found.rung);
  if (const size_t without_site = found.elsewhere.lives.size() - found.cut; without_site > 0)
    text += fmt::format(
        "{} blocks have no call stack, or come from a file without a build id, and stay on the slow memory\n",
        without_site);
  if (found.cut > 0)
    text += fmt::format(
        "{} blocks ({}) stay on the slow memory: their call stacks end early (code without a build id, or a stack that "
        "could not be read further), and those of other sites begin like them\n",
        found.cut, util::size_text(found.cut_bytes));
  return text + missing_text(recorded);
}

std::string prediction_text(const Advice& advice, const Prediction& said) {
  const char* const where = advice.spread.empty() ? "all on the fast one" : "all over both nodes";
  return fmt::format(
      "predicted: {:+.1f} % ({:+.1f} to {:+.1f} %) against all blocks on the slow memory ({:.3f} s; {} {})\n",
      100 * said.change, 100 * said.low, 100 * said.high, said.far_s, where,
      said.near_s > 0 ? fmt::format("{:.3f} s", said.near_s) : "was not measured");
}

std::string chosen_text(const Advice& advice, const RecordedRun& recorded, const TraceSites& found,
                        const Choice& choice) {
  std::string text = fmt::format("{} blocks of {} and more, {} sites; a site's gain is its {}\n", found.blocks,
                                 util::size_text(advice.min_bytes), found.sites.size(), advice.ranked_by);
  text += remarks_text(recorded, found, choice);
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
  if (advice.prediction) return text + prediction_text(advice, *advice.prediction);
  return text + fmt::format("no time is predicted: this is a ranking; {}\n", choice.why_no_time);
}

// `gains`: of all sites.
Choice choose(const TraceSites& found, const std::vector<double>& gains, Advice& advice) {
  const double all = std::max(std::accumulate(gains.begin(), gains.end(), 0.0), 1e-300);
  const auto capacity = static_cast<double>(advice.capacity_bytes);
  const Chosen chosen = choose_over_time(found.sites, gains, capacity, kSitesMax);
  advice.gain = chosen.gain / all;
  advice.gain_most = std::min(1.0, chosen.bound / all);
  for (const size_t site : chosen.sites) advice.add(found.sites[site]);
  const size_t fitting = sites_that_fit(found.sites, gains, capacity).size();
  return {chosen.sites, fitting - std::min(fitting, kSitesMax), {}};
}

// Measures gains if --calibrate asks for it, chooses sites, and predicts what they save.
Result<Choice> measure_and_choose(const AdviseOptions& options, const TraceSites& found, Advice& advice) {
  std::vector<double> gains;
  for (const Site& site : found.sites) gains.push_back(site.weight);
  advice.ranked_by = found.ranked_by;
  Measurement measured{{}, "--calibrate measures gains", false, {}};
  if (!options.calibration.empty()) {
    auto made = calibrate(options, advice, found);
    if (!made) return tl::make_unexpected(made.error());
    measured = *std::move(made);
  }
  if (!measured.calibration) {
    Choice choice = choose(found, gains, advice);
    choice.why_no_time = measured.why_not;
    return choice;
  }
  if (measured.is_spread) {
    advice.spread = options.spread.target;
    advice.capacity_bytes =
        static_cast<uint64_t>(static_cast<double>(advice.capacity_bytes) / options.spread.fast_share);
  }
  advice.ranked_by =
      measured.is_spread ? "share of the seconds that all save, by " + found.ranked_by : "measured seconds saved";
  Choice choice = choose(found, site_gains(*measured.calibration), advice);
  const auto prediction = predict(*measured.calibration, choice.sites);
  if (!prediction) return tl::make_unexpected(prediction.error());
  advice.prediction = *prediction;
  return choice;
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
  if (const Status has_sites = check_sites(options.source, advice.min_bytes, *found); !has_sites) return has_sites;
  advice.all_fits = all_fits(options, *found);
  advice.has_budget = options.fast_bytes == 0 || advice.capacity_bytes < options.fast_bytes;
  const auto choice = measure_and_choose(options, *found, advice);
  if (!choice) return tl::make_unexpected(choice.error());
  if (const Status written = util::write_atomically(options.output, advice_text(advice), 0644); !written)
    return written;
  std::fputs((*remark + chosen_text(advice, *recorded, *found, *choice)).c_str(), stdout);
  if (advice.prediction && !options.spread.why.empty() && options.fast != "huge")
    std::fputs(fmt::format("no spread over both nodes was tried: {}\n", options.spread.why).c_str(), stdout);
  return {};
}

// Writes a rule for each of the largest sites.
Status keep_apart(const AdviseOptions& options) {
  const auto recorded = read_recorded_run(options.source);
  if (!recorded) return tl::make_unexpected(recorded.error());
  const uint64_t min_bytes = std::max(kLeastPlacedBytes, recorded->min_bytes);
  const auto found = read_sites(options.source, min_bytes, recorded->end_ns);
  if (!found) return tl::make_unexpected(found.error());
  if (const Status has_sites = check_sites(options.source, min_bytes, *found); !has_sites) return has_sites;
  const ApartSites apart = largest_sites(options.source, min_bytes, *found, options.apart_sites);
  if (const Status written = util::write_atomically(options.output, apart_text(apart), 0644); !written) return written;
  std::fputs((missing_text(*recorded) + apart_summary_text(apart, *found, options.output)).c_str(), stdout);
  return {};
}

Status renew_apart(ApartSites apart, const AdviseOptions& options) {
  const size_t sites = apart.signatures.size();
  const OtherBuilds others = find_in_other_builds(apart);
  if (apart.signatures.empty())
    return fail(fmt::format("{}: none of its {} sites is found in the present files: record the program again",
                            options.source, sites));
  const std::vector<std::string> alike = sort_out_alike(apart);
  if (const Status written = util::write_atomically(options.output, apart_text(apart), 0644); !written) return written;
  std::string text = builds_text(others, sites);
  if (others.lost > 0) text += "those that are not found are left out\n";
  if (!alike.empty())
    text += fmt::format(
        "{} have no rule of their own: by the names of functions they are the same as other sites, whose rules place "
        "their blocks; to keep them apart, record the program again\n",
        alike.size());
  for (const std::string& label : alike) text += "  " + util::printable(label) + "\n";
  std::fputs(text.c_str(), stdout);
  return {};
}

// Writes the file again for the present builds of its libraries.
Status renew(const AdviseOptions& options) {
  const auto apart = read_apart(options.source);
  if (!apart) return tl::make_unexpected(apart.error());
  if (*apart && options.trial.empty()) return renew_apart(**apart, options);
  auto advice = read_advice(options.source);
  if (!advice) return tl::make_unexpected(advice.error());
  const size_t sites = advice->signatures.size();
  const bool was_predicted = advice->prediction.has_value();
  const OtherBuilds others = find_in_other_builds(*advice);
  if (const Status written = util::write_atomically(options.output, advice_text(*advice), 0644); !written)
    return written;
  std::string text = builds_text(others, sites);
  if (others.lost > 0)
    text += fmt::format(
        "those that are not found are left out{}\n",
        advice->signatures.empty() ? ", so all blocks go to the slow memory: record the program again" : "");
  if (was_predicted && !advice->prediction) text += "the prediction is left out: it was one for the recorded build\n";
  std::fputs(text.c_str(), stdout);
  return {};
}

// The exit status.
Result<int> try_advice(const AdviseOptions& options, const std::string& file) {
  const auto advice = read_advice(file);
  if (!advice) return tl::make_unexpected(advice.error());
  const auto remark = check_fast(advice->fast);
  if (!remark) return tl::make_unexpected(remark.error());
  const auto rules = placement::find_rules({{file}, {}, {}});
  if (!rules) return tl::make_unexpected(rules.error());
  if (!rules->empty() && !rules->front().remark.empty()) return fail(rules->front().remark);
  Experiment experiment{
      options.trial,   fmt::format("mlrun advise '{}' --try '{}' --blocks {}", file, options.trial, options.blocks),
      advice->command, {},
      advice->figure,  options.blocks,
      options.quiet};
  experiment.configurations = trial_runs(*advice, file);
  const auto measured = make_runs(experiment);
  if (!measured) return tl::make_unexpected(measured.error());
  if (const Status good = check_runs(experiment, {kFar, kAdvised}, *measured); !good)
    return tl::make_unexpected(good.error());
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
  if (!options.is_file) status = options.apart_sites > 0 ? keep_apart(options) : advise(options);
  if (options.is_file && !options.output.empty()) status = renew(options);
  if (!status) return tl::make_unexpected(status.error());
  if (options.trial.empty()) return 0;
  return try_advice(options, options.output.empty() ? options.source : options.output);
}

}  // namespace mlrun::sweep
