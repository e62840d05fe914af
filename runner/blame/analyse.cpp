// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/analyse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "runner/blame/step_list.h"
#include "runner/blame/timeline/load.h"

namespace mlrun::blame {

namespace {

using summary::Activity;
using summary::Answer;

constexpr size_t kActivities = std::size(summary::kActivityNames), kStates = std::size(summary::kStateNames);
constexpr size_t kWaitedForMost = 100;
// Errors as shares of the loop's time: kOwnError of the rules; kNoCall of loader code in the driver that makes no call and is missed without samples.
// Both were fitted to test programs whose causes are known.
constexpr double kOwnError = 0.02, kNoCall = 0.03;

// Rounds each value so that the sum is `total`.
std::vector<int64_t> rounded(const std::vector<double>& values, int64_t total) {
  std::vector<int64_t> out;
  double sum = 0;
  int64_t given = 0;
  for (const double value : values) {
    sum += value;
    out.push_back(std::llround(sum) - given);
    given += out.back();
  }
  if (!out.empty()) *std::max_element(out.begin(), out.end()) += total - given;
  return out;
}

void sum_time(const Division& division, Answer& answer) {
  std::array<double, kActivities * kStates> sums{};
  for (const Divided& piece : division.pieces) {
    sums[static_cast<size_t>(piece.activity) * kStates + static_cast<size_t>(piece.state)] += piece.ns();
  }
  const std::vector<int64_t> whole = rounded({sums.begin(), sums.end()}, answer.wall_ns);
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] == 0) continue;
    answer.time.push_back({static_cast<Activity>(i / kStates), static_cast<summary::State>(i % kStates), whole[i]});
  }
  std::sort(answer.time.begin(), answer.time.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
}

bool is_without_batch(const Divided& piece) {
  return piece.activity == Activity::kWait || piece.activity == Activity::kReceive ||
         piece.activity == Activity::kLoader;
}

void sum_batches(const Analysis& analysis, Answer& answer) {
  const Batches& batches = analysis.division.batches;
  const bool nothing_known = batches.first_ns == 0 && !analysis.division.driver_seen;
  answer.batches_from_ns = batches.first_ns;
  answer.batches_to_ns = batches.last_ns;
  answer.startup_ns = 0;
  double without = 0, own = 0, looked_at = 0;
  for (const Divided& piece : analysis.division.pieces) {
    if (piece.activity == Activity::kStartup) answer.startup_ns += std::llround(piece.ns());
    if (is_without_batch(piece)) without += piece.ns();
    if (piece.activity == Activity::kStartup || piece.activity == Activity::kEnd || piece.hops > 0) continue;
    own += piece.ns();
    if (piece.activity == Activity::kLoader || piece.activity == Activity::kReceive) looked_at += piece.ns();
  }
  if (nothing_known) return;
  answer.without_batch_ns = std::llround(without);
  const Thread& driver = analysis.timeline.thread(analysis.division.driver);
  for (const StackSample& sample : driver.samples) {
    const bool in_loop =
        batches.first_ns == 0 || (sample.start_ns >= batches.first_ns && sample.start_ns <= batches.last_ns);
    answer.samples += in_loop ? sample.count : 0;
  }
  const double loop = batches.first_ns == 0 ? static_cast<double>(answer.wall_ns)
                                            : static_cast<double>(batches.last_ns - batches.first_ns);
  double half = kOwnError * loop;
  if (answer.samples > 0 && own > 0) {
    const double share = std::clamp(looked_at / own, 1.0 / static_cast<double>(answer.samples + 2), 1.0);
    half += 1.96 * std::sqrt(share * (1 - share) / static_cast<double>(answer.samples)) * own;
  }
  answer.low_ns = std::max<int64_t>(0, answer.without_batch_ns - std::llround(half));
  if (answer.samples == 0) half += kNoCall * loop;  // missed loader code can only add to loading
  answer.high_ns = std::min<int64_t>(std::llround(loop), answer.without_batch_ns + std::llround(half));
  answer.high_ns = std::max(answer.high_ns, answer.without_batch_ns);
}

// Sums the driver's waits in its loop by the thread that it waited for and by what that thread did.
void sum_waits(const Analysis& analysis, Answer& answer) {
  using Key = std::pair<int32_t, Label>;
  struct Sum {
    double ns = 0;
    std::map<int32_t, double> lines;
    std::map<Link, double> links;
  };
  std::map<Key, Sum> sums;
  std::map<int64_t, double> away_ns;
  double waiting = 0, lost = 0;
  for (const Divided& piece : analysis.division.pieces) {
    if (piece.activity != Activity::kWait) continue;
    Sum& sum = sums[{piece.thread_id, piece.label}];
    sum.ns += piece.ns();
    if (piece.line >= 0) sum.lines[piece.line] += piece.ns();
    sum.links[piece.link] += piece.ns();
    waiting += piece.ns();
    if (piece.away_file_id != 0) away_ns[piece.away_file_id] += piece.ns();
    const bool away = piece.label == Label::kWait && piece.state == summary::State::kRemote;
    if ((piece.label == Label::kWait && !away) || piece.label == Label::kAsleep) lost += piece.ns();
  }
  answer.waiting_ns = std::llround(waiting);
  answer.not_followed_ns = std::llround(lost);
  for (const auto& [file_id, ns] : away_ns) answer.away.push_back({file_id, std::llround(ns)});
  const auto most = [](const auto& all) {
    return std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  };
  for (const auto& [key, sum] : sums) {
    const Thread& thread = analysis.timeline.thread(key.first);
    const Process& process = analysis.timeline.process(thread.proc_id);
    summary::WaitedFor row;
    row.role = process.role;
    row.thread = process.main == key.first ? "" : thread.comm;
    row.proc_id = process.proc_id;
    row.pid = process.pid;
    row.tid = thread.tid;
    row.doing = label_name(key.second);
    if (!sum.lines.empty()) row.line = analysis.lines.text(most(sum.lines)->first);
    row.link = kLinkNames[static_cast<size_t>(most(sum.links)->first)];
    row.ns = std::llround(sum.ns);
    answer.waited_for.push_back(std::move(row));
  }
  std::sort(answer.waited_for.begin(), answer.waited_for.end(),
            [](const auto& a, const auto& b) { return a.ns > b.ns; });
  if (answer.waited_for.size() > kWaitedForMost) answer.waited_for.resize(kWaitedForMost);
}

}  // namespace

const char* label_name(Label label) {
  switch (label) {
    case Label::kCpu: return "computing";
    case Label::kImport: return "importing";
    case Label::kCheckpoint: return "checkpoint";
    case Label::kSerialise: return "pickling";
    case Label::kLoader: return "loading";
    case Label::kLogging: return "logging";
    case Label::kOtherCall: return "other call";
    case Label::kNames: return "file names";
    case Label::kRead: return "reading";
    case Label::kWrite: return "writing";
    case Label::kSync: return "syncing";
    case Label::kChannel: return "channel";
    case Label::kWorkerStart: return "starting";
    case Label::kWorkerEnd: return "ending";
    case Label::kPythonLock: return "python lock";
    case Label::kSleep: return "sleeping";
    case Label::kTimer: return "timer";
    case Label::kFileLock: return "lock";
    case Label::kTransfer: return "transfer";
    case Label::kIdle: return "idle";
    case Label::kWait: return "waiting";
    case Label::kPageFault: return "page fault";
    case Label::kKernel: return "in kernel";
    case Label::kAsleep: return "asleep";
  }
  return "";
}

Result<std::unique_ptr<Analysis>> analyse(const Options& options) {
  auto timeline = load(options.folder, options.start_ns, options.end_ns);
  if (!timeline) return tl::make_unexpected(timeline.error());
  auto analysis = std::make_unique<Analysis>();
  analysis->timeline = *std::move(timeline);
  analysis->divider = std::make_unique<Divider>(analysis->timeline, analysis->lines);
  analysis->division = analysis->divider->divide(options.driver_tid);
  Answer& answer = analysis->answer;
  if (analysis->division.driver == 0) return analysis;
  const Thread& driver = analysis->timeline.thread(analysis->division.driver);
  answer.driver_thread_id = driver.thread_id;
  answer.driver_tid = driver.tid;
  answer.driver_pid = analysis->timeline.process(driver.proc_id).pid;
  answer.wall_ns = analysis->timeline.end_ns - analysis->timeline.start_ns;
  sum_time(analysis->division, answer);
  sum_batches(*analysis, answer);
  sum_waits(*analysis, answer);
  Status found = find_steps(options.folder, analysis->timeline, analysis->division, *analysis->divider, answer);
  if (!found) return tl::make_unexpected(found.error());
  return analysis;
}

}  // namespace mlrun::blame
