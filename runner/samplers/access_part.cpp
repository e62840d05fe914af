// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access_part.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/collect/sample_frames.h"
#include "runner/model/run_keys.h"
#include "runner/util/access_rungs.h"
#include "runner/util/clock.h"
#include "runner/util/log.h"
#include "runner/util/text.h"

namespace mlrun::samplers {

namespace {

using nlohmann::json;

// Windows are a second or longer, so a higher rate is about samples of `precise`.
constexpr double kMostWindowsHz = 1;

std::string problem_line(const access::TriedRung& tried) {
  return fmt::format("{}: {}", util::access_rung_name(tried.rung), tried.problem);
}

// Whether the options ask for this rung: by its name, or for `precise` by what only it uses.
bool asks_for(const AccessOptions& options, mlrun_access_rung rung) {
  const bool asks_for_precise = options.read_event || options.write_event || options.hz > kMostWindowsHz;
  return !options.rungs.empty() || (rung == MLRUN_ACCESS_PRECISE && asks_for_precise);
}

}  // namespace

Result<std::unique_ptr<AccessStart>> AccessStart::settle(const AccessOptions& options) {
  if (options.wish == Wish::kOff) return nullptr;
  auto start = std::make_unique<AccessStart>();
  std::vector<access::ChosenRung> chosen = access::choose_rungs(options, start->tried_);
  std::vector<std::string> problems, asked_problems;
  for (access::TriedRung& tried : start->tried_) {
    tried.is_asked = asks_for(options, tried.rung);
    if (tried.problem.empty()) continue;
    problems.push_back(problem_line(tried));
    if (tried.is_asked) asked_problems.push_back(problems.back());
  }
  const std::string all = fmt::format("{}", fmt::join(problems, "; "));
  const bool wants_precise = options.read_event || options.write_event;  // only `precise` uses raw event numbers
  const bool lacks_precise = wants_precise && (chosen.empty() || chosen.front().tried.rung != MLRUN_ACCESS_PRECISE);
  const bool lacks_some = lacks_precise || chosen.size() < std::max<size_t>(options.rungs.size(), 1);
  if (lacks_some && options.wish == Wish::kRequire) return fail("accesses to memory cannot be seen: " + all);
  if (chosen.empty()) {
    util::say("accesses to memory are not seen: " + all);
    start->problem_ = all;
  } else if (!asked_problems.empty()) {
    util::say(fmt::format("--access cannot use: {}", fmt::join(asked_problems, "; ")));
  }
  for (const access::ChosenRung& one : chosen) {
    const bool has_stalls = one.tried.rung == MLRUN_ACCESS_CLEAR_REFS || one.tried.rung == MLRUN_ACCESS_SOFT_DIRTY;
    if (has_stalls)
      util::say(fmt::format("--access by {}: {}", util::access_rung_name(one.tried.rung), one.tried.remark));
  }
  start->sampler_ = std::make_unique<access::AccessSampler>(std::move(chosen));
  return start;
}

void AccessStart::describe(json& session) const {
  access::AccessState state = sampler_->state();
  std::vector<model::MemoryAccess::Tried> tried;
  for (auto& rung : state.rungs) {
    rung.cost = util::escaped_utf8(rung.cost);
    rung.problem = util::escaped_utf8(rung.problem);
  }
  for (const access::TriedRung& one : tried_) {
    tried.push_back({util::access_rung_name(one.rung), util::escaped_utf8(one.problem), util::escaped_utf8(one.remark),
                     one.is_asked});
  }
  const std::string& problem = problem_.empty() || !state.rungs.empty() ? state.problem : problem_;
  session["access"] = {{"rungs", model::json_of(state.rungs)},
                       {"tried", model::json_of(tried)},
                       {"problem", util::escaped_utf8(problem)}};
}

void AccessStart::attach(pid_t command) {
  for (const access::TriedRung& failed : sampler_->attach(command)) {
    util::say("--access: " + problem_line(failed));
    problem_ += (problem_.empty() ? "" : "; ") + problem_line(failed);
    for (access::TriedRung& tried : tried_) {
      if (tried.rung == failed.rung) tried.problem = failed.problem;
    }
  }
}

AccessPart::AccessPart(AccessStart start, collect::Recording& recording, const collect::DescendantWatch& watch)
    : start_(std::move(start)), recording_(recording), watch_(watch) {
  start_.sampler_->start();
}

void AccessPart::collect() {
  constexpr uint64_t kWatchNs = 50'000'000, kWriteNs = 200'000'000;
  const uint64_t now_ns = util::monotonic_ns();
  if (now_ns >= next_watch_ns_) {
    next_watch_ns_ = now_ns + kWatchNs;
    std::vector<uint32_t> pids = watch_.alive();
    for (const collect::WatchedProcess& process : recording_.collector().processes()) pids.push_back(process.host_pid);
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    start_.sampler_->watch(std::move(pids));
  }
  if (now_ns < next_write_ns_) return;
  next_write_ns_ = now_ns + kWriteNs;
  write();
}

void AccessPart::finish(json& session) {
  start_.sampler_->stop();
  write();
  start_.describe(session);
  const access::AccessState state = start_.sampler_->state();
  session["access"].update({{"rows", state.rows}, {"rows_dropped", state.rows_dropped}, {"cpu_ns", state.cpu_ns}});
}

void AccessPart::write() {
  access::Rows rows = start_.sampler_->fetch();
  // Those of an earlier pause, if there were two since the last call, stay: the merger gives them no block.
  const collect::LatestPause& pause = recording_.collector().latest_pause();
  std::erase_if(rows, [&](const mlrun_access_sample& row) {
    return pause.overlaps(row.monotonic_ns - row.interval_ns, row.monotonic_ns);
  });
  collect::SampleFrames frames(recording_.spool(), recording_.arena().clock_kind());
  frames.put_rows(MLRUN_SAMPLE_ACCESS, rows);
}

}  // namespace mlrun::samplers
