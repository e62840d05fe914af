// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/findings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "runner/findings/replay.h"
#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

namespace {

using summary::Finding;

constexpr double kFloor = 0.05;       // share of the wall time: a cause with less is no finding
constexpr double kOfComputing = 0.1;  // of the computing: if the largest cause has less, kComputeBound comes first

constexpr int64_t kSamplesMin = 30;  // fewer samples give no confidence interval

struct Rule {
  Cause cause;
  Draft (*make)(const Context&);
};
constexpr Rule kRules[] = {{Cause::kDataDevice, data_device},
                           {Cause::kDataRemote, data_remote},
                           {Cause::kDataTransformCpu, data_transform_cpu},
                           {Cause::kDataSerialisation, data_serialisation},
                           {Cause::kDataLock, data_lock},
                           {Cause::kDataSlowWorker, data_slow_worker},
                           {Cause::kDataInDriver, data_in_driver},
                           {Cause::kPythonLock, python_lock},
                           {Cause::kTimer, timer},
                           {Cause::kPageCacheMiss, page_cache_miss},
                           {Cause::kReread, reread},
                           {Cause::kSmallRequests, small_requests},
                           {Cause::kSmallFiles, small_files},
                           {Cause::kRandomRequests, random_requests},
                           {Cause::kMetadata, metadata},
                           {Cause::kWorkerStartup, worker_startup},
                           {Cause::kLoaderEnd, loader_end},
                           {Cause::kCheckpoint, checkpoint},
                           {Cause::kLogging, logging},
                           {Cause::kOversubscription, oversubscription},
                           {Cause::kAllocation, allocation},
                           {Cause::kRankSkew, rank_skew},
                           {Cause::kRemoteCall, remote_call},
                           {Cause::kComputeBound, compute_bound},
                           {Cause::kNotFollowed, not_followed}};

// Whether the cause's time is measured by samples of the driver's stack.
bool is_sampled(const Context& context, Cause cause) {
  if (!context.analysis.division.driver_seen) return false;
  return cause == Cause::kDataInDriver || cause == Cause::kComputeBound || cause == Cause::kCheckpoint ||
         cause == Cause::kLogging;
}

// Whether the cause's time is spent in files, which a replay can take away.
bool is_in_files(Cause cause) {
  switch (cause) {
    case Cause::kDataDevice:
    case Cause::kDataRemote:
    case Cause::kPageCacheMiss:
    case Cause::kReread:
    case Cause::kSmallRequests:
    case Cause::kSmallFiles:
    case Cause::kRandomRequests:
    case Cause::kMetadata: return true;
    case Cause::kDataTransformCpu:
    case Cause::kDataSerialisation:
    case Cause::kDataLock:
    case Cause::kDataSlowWorker:
    case Cause::kDataInDriver:
    case Cause::kPythonLock:
    case Cause::kTimer:
    case Cause::kWorkerStartup:
    case Cause::kLoaderEnd:
    case Cause::kCheckpoint:
    case Cause::kLogging:
    case Cause::kOversubscription:
    case Cause::kAllocation:
    case Cause::kRankSkew:
    case Cause::kRemoteCall:
    case Cause::kComputeBound:
    case Cause::kNotFollowed:
    case Cause::kNone: return false;
  }
  return false;
}

Cause cause_of(const Finding& finding) {
  return static_cast<Cause>(std::find(std::begin(kCauseNames), std::end(kCauseNames), finding.cause) - kCauseNames);
}

void add_interval(const Context& context, Cause cause, Finding& finding) {
  const int64_t samples = context.analysis.answer.samples;
  finding.measured_on = "one run";
  if (!is_sampled(context, cause) || samples < kSamplesMin) return;
  const double share = static_cast<double>(finding.explains_ns) / static_cast<double>(context.analysis.answer.wall_ns);
  const double half = 1.96 * std::sqrt(share * (1 - share) / static_cast<double>(samples));
  finding.low_ppm = std::llround(1e6 * std::max(0.0, share - half));
  finding.high_ppm = std::llround(1e6 * std::min(1.0, share + half));
  finding.measured_on = fmt::format("{} samples of the training thread, one run", util::count_text(samples));
}

std::string names_of(const std::vector<Cause>& causes) {
  std::string names;
  for (const Cause cause : causes)
    names += (names.empty() ? "" : ",") + std::string(kCauseNames[static_cast<size_t>(cause)]);
  return names;
}

Finding make(const Context& context, const Rule& rule) {
  Draft draft = rule.make(context);
  if (const std::string commands = commands_text(context, rule.cause); !commands.empty()) {
    draft.claim = "the training waited for commands that it ran: " + commands;
    draft.remedy = "run them less often, or in a separate thread or process while the training continues";
  }
  Finding finding;
  finding.cause = kCauseNames[static_cast<size_t>(rule.cause)];
  finding.also = names_of(draft.also);
  finding.claim = std::move(draft.claim);
  finding.remedy = std::move(draft.remedy);
  finding.against = std::move(draft.against);
  finding.explains_ns = std::llround(context.ns_of(rule.cause));
  finding.at_most_saved_ns = draft.saved_ns < 0 ? finding.explains_ns : std::llround(draft.saved_ns);
  finding.evidence = fmt::format("rows of table blame with cause {}", finding.cause);
  finding.command = fmt::format("mlrun show TRACE blame --where 'cause = {}'", finding.cause);
  add_interval(context, rule.cause, finding);
  return finding;
}

// Sets at_most_saved_ns to what a replay without the cause saves, for causes in files and slow workers, if the loader can be replayed and
// the replay as it was comes close to the run.
void add_saved(blame::Analysis& analysis, const Machine& machine, std::vector<Finding>& findings) {
  const bool applies = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return is_in_files(cause_of(finding)) || cause_of(finding) == Cause::kDataSlowWorker;
  });
  if (!applies) return;
  const Replay replay(analysis, machine.usable());
  if (replay.empty()) return;
  for (Finding& finding : findings) {
    WhatIf change;
    change.files_cost_nothing = is_in_files(cause_of(finding));
    change.no_slow_batch = cause_of(finding) == Cause::kDataSlowWorker;
    if (!change.files_cost_nothing && !change.no_slow_batch) continue;
    const Replayed replayed = replay.run(change);
    if (std::abs(replayed.error()) > kReplayError) continue;
    finding.at_most_saved_ns = std::max<int64_t>(0, replayed.replayed_ns - replayed.predicted_ns);
  }
}

}  // namespace

Context find(blame::Analysis& analysis, const std::string& folder, const Machine& machine) {
  Context context = make_context(analysis, folder, machine);
  std::vector<Finding>& findings = analysis.answer.findings;
  const auto wall_ns = static_cast<double>(analysis.answer.wall_ns);
  const Rule* computing = nullptr;
  for (const Rule& rule : kRules) {
    const double ns = context.ns_of(rule.cause);
    if (rule.cause == Cause::kComputeBound) {
      computing = &rule;
      continue;
    }
    if (ns > 0 && ns >= kFloor * wall_ns) findings.push_back(make(context, rule));
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.explains_ns > b.explains_ns; });
  add_saved(analysis, machine, findings);
  const bool is_fast =
      findings.empty() || static_cast<double>(findings[0].explains_ns) < kOfComputing * context.compute_ns;
  if (is_fast && computing != nullptr) findings.insert(findings.begin(), make(context, *computing));
  return context;
}

}  // namespace mlrun::findings
