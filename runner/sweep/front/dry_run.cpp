// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/front/dry_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/report/text/terminal.h"
#include "runner/session/sweep_folder.h"
#include "runner/sweep/plan/run_words.h"
#include "runner/sweep/store/rows.h"
#include "runner/util/text.h"
#include "runner/util/time_units.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

namespace {

using nlohmann::json;
using CellName = std::pair<std::string, std::string>;  // configuration's name, workload's key

// How long earlier runs took, from their start to the finished trace.
struct EarlierRuns {
  std::map<CellName, std::pair<int64_t, int64_t>> times;  // sum of the times in ns, number of runs
  std::set<std::tuple<std::string, std::string, int32_t>> done;

  [[nodiscard]] std::optional<int64_t> mean_ns(const CellName& cell) const {
    const auto found = times.find(cell);
    if (found == times.end()) return {};
    return found->second.first / found->second.second;
  }
};

Result<EarlierRuns> read_earlier_runs(const std::string& folder) {
  EarlierRuns known;
  if (folder.empty() || !session::is_sweep(folder)) return known;
  const auto sweep = read_sweep(folder);
  if (!sweep) return tl::make_unexpected(sweep.error());
  for (const RunRow& run : sweep->runs) {
    if (run.state != RunState::kDone) continue;
    const std::string& name = sweep->configurations.at(run.planned.configuration).name;
    const std::string& key = sweep->workloads.at(run.planned.workload).key;
    known.done.emplace(name, key, run.planned.block);
    auto& [sum, number] = known.times[{name, key}];
    sum += std::max<int64_t>(0, run.ended_realtime_ns - run.started_realtime_ns);
    number++;
  }
  return known;
}

struct ExpectedTime {
  int64_t ns = 0;  // expected time of the runs whose time is known
  size_t known = 0, left = 0;
};

class DryRun {
 public:
  DryRun(const Plan& plan, const std::string& folder, EarlierRuns known)
      : plan_(plan),
        folder_(folder.empty() ? "OUT" : folder),
        known_(std::move(known)),
        runs_(planned_runs(plan, plan.repetitions)) {
    for (const PlannedRun& run : runs_) {
      if (is_done(run)) continue;
      expected_.left++;
      const auto ns = known_.mean_ns(cell_of(run));
      if (!ns) continue;
      expected_.known++;
      expected_.ns += *ns + static_cast<int64_t>(plan_.pause_ns);
    }
  }

  void print_text() const {
    const report::TextStyle style = report::style_of(stdout);
    fmt::print("{}: {} × {} × {}, {}, seed {}\n", util::counted(static_cast<int64_t>(runs_.size()), "run"),
               util::counted(static_cast<int64_t>(plan_.configurations.size()), "configuration"),
               util::counted(static_cast<int64_t>(plan_.workloads.size()), "workload"),
               util::counted(plan_.repetitions, "repetition"),
               plan_.order == Order::kBlocks ? "in blocks" : "one configuration after the other", plan_.seed);
    if (plan_.warm_up > 0)
      fmt::print("before them, {} of every configuration and workload to warm up, without figures\n",
                 util::counted(plan_.warm_up, "repetition"));
    for (const PlannedRun& run : runs_) {
      const auto ns = known_.mean_ns(cell_of(run));
      const std::string time = is_done(run) ? "done" : ns ? util::time_text(*ns, style.glyphs) : "-";
      fmt::print("{:>5}  {:>9}  {}\n", run.position, time, command_line(run));
    }
    fmt::print("{}\n", total_text(style));
  }

  void print_json() const {
    json list = json::array();
    for (const PlannedRun& run : runs_) {
      const auto ns = known_.mean_ns(cell_of(run));
      json words = json::array();
      for (const std::string& word : words_of(run)) words.push_back(util::escaped_utf8(word));
      list.push_back({{"position", run.position},
                      {"block", run.block},
                      {"configuration", plan_.configurations[run.configuration].name},
                      {"workload", util::escaped_utf8(plan_.workloads[run.workload].key)},
                      {"folder", run.folder},
                      {"command", std::move(words)},
                      {"done", is_done(run)},
                      {"expected_s", ns ? json(util::in_seconds(*ns)) : json()}});
    }
    const bool is_known = expected_.known == expected_.left;
    const json result = {{"runs", std::move(list)},
                         {"plan_hash", plan_.hash},
                         {"order", plan_.order == Order::kBlocks ? "blocks" : "sequence"},
                         {"seed", plan_.seed},
                         {"warm_up", plan_.warm_up},
                         {"expected_s", is_known ? json(util::in_seconds(expected_.ns)) : json()}};
    fmt::print("{}\n", result.dump(2));
  }

 private:
  [[nodiscard]] CellName cell_of(const PlannedRun& run) const {
    return {plan_.configurations[run.configuration].name, plan_.workloads[run.workload].key};
  }

  [[nodiscard]] bool is_done(const PlannedRun& run) const {
    const auto [name, key] = cell_of(run);
    return known_.done.contains({name, key, run.block});
  }

  [[nodiscard]] Words words_of(const PlannedRun& run) const {
    return run_words(plan_, run, "mlrun", folder_ + "/runs/" + run.folder);
  }

  // The command line for a shell. Settings that are in no word of it follow as a comment.
  [[nodiscard]] std::string command_line(const PlannedRun& run) const {
    const Configuration& configuration = plan_.configurations[run.configuration];
    std::string line = variables_text(configuration.environment);
    for (const std::string& word : words_of(run)) line += report::shell_word(word) + " ";
    line.pop_back();
    std::string remarks;
    const auto remark = [&](const char* name, const std::string& value) {
      if (!value.empty()) remarks += (remarks.empty() ? "  # " : ", ") + std::string(name) + " " + value;
    };
    if (configuration.is_dry) {
      remark("CPUs", configuration.cpus);
      remark("CPUs of node", configuration.cpu_node);
      remark("memory of node", configuration.mem_node);
    }
    remark("page cache", configuration.cache == Cache::kCold   ? "cold"
                         : configuration.cache == Cache::kWarm ? "warm"
                                                               : "");
    return util::printable(line + remarks);
  }

  [[nodiscard]] std::string total_text(const report::TextStyle& style) const {
    const size_t done = runs_.size() - expected_.left;
    std::string text = done == 0 ? "" : util::counted(static_cast<int64_t>(done), "run") + " done; ";
    if (expected_.left == 0) return text + "nothing is left to run";
    const std::string time = util::time_text(expected_.ns, style.glyphs);
    if (expected_.known == 0) return text + "time: unknown, no earlier run is known";
    if (expected_.known == expected_.left) return text + "time: about " + time;
    return text + fmt::format("time: more than {}; unknown for {} of {} runs", time, expected_.left - expected_.known,
                              expected_.left);
  }

  const Plan& plan_;
  std::string folder_;
  EarlierRuns known_;
  std::vector<PlannedRun> runs_;
  ExpectedTime expected_;
};

}  // namespace

Status print_dry_run(const Plan& plan, const std::string& folder, bool json) {
  auto known = read_earlier_runs(folder);
  if (!known) return tl::make_unexpected(known.error());
  const DryRun dry_run(plan, folder, *std::move(known));
  if (json) {
    dry_run.print_json();
  } else {
    dry_run.print_text();
  }
  return {};
}

}  // namespace mlrun::sweep
