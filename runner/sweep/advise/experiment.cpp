// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/experiment.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/model/run.h"
#include "runner/session/sweep_folder.h"
#include "runner/sweep/advise/toml_text.h"
#include "runner/sweep/execute/execute.h"
#include "runner/sweep/plan/named_values.h"
#include "runner/sweep/plan/read_plan.h"
#include "runner/sweep/read/cells.h"
#include "runner/sweep/store/plan_json.h"
#include "runner/sweep/store/store.h"
#include "runner/util/log.h"
#include "runner/util/secrets.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;

constexpr double kVerified = 0.95;  // least share of the memory on the nodes of its rules

// A recorded text as bytes. Fails if it is not UTF-8, as plans are.
Result<std::string> whole_text(const std::string& recorded) {
  std::string text = util::unescaped_utf8(recorded);
  if (util::is_utf8(text)) return text;
  return fail(fmt::format(
      "'{}' is not UTF-8, as a plan of runs must be; record the command with other names of files and arguments",
      recorded));
}

// The command's words with the quotes of a shell.
Result<std::string> command_text(const RecordedCommand& command) {
  if (!command.failure.empty())
    return fail(fmt::format(
        "the command failed when it was recorded ({}), so its runs would tell little; record one that succeeds",
        command.failure));
  std::string text;
  for (const std::string& recorded : command.words) {
    if (recorded.find(util::kMasked) != std::string::npos) {
      return fail(
          fmt::format("the trace has {} instead of the secret in '{}', so its command cannot be run again; record it "
                      "with the secret in a file or in the environment",
                      util::kMasked, recorded));
    }
    auto word = whole_text(recorded);
    if (!word) return word;
    text += (text.empty() ? "" : " ") + with_literal_braces(util::shell_quoted(*word));
  }
  return text;
}

// Whether the recorded standard input is a file that can be read again.
bool has_input_file(const RecordedCommand& command) {
  std::error_code ignored;
  return fs::is_regular_file(util::unescaped_utf8(command.input), ignored);
}

Result<std::string> plan_text(const Experiment& experiment) {
  const RecordedCommand& command = experiment.command;
  auto words = command_text(command);
  if (!words) return words;
  std::string text = fmt::format("repetitions = {}\nworkloads = [{}]\n", experiment.blocks, toml_text(*words));
  if (has_input_file(command)) {
    auto input = whole_text(command.input);
    if (!input) return input;
    text += fmt::format("input = {}\n", toml_text(*input));
  }
  for (const PlacedRuns& placed : experiment.configurations) {
    // Only the placement is on: recording would add to the measured times.
    std::vector<std::string> options = {"--preload=off", "--sample=off", "--python-stacks=off"};
    if (!command.mem_node.empty() && command.policy != "mem-node")
      options.push_back(fmt::format("--{}={}", command.policy, command.mem_node));
    for (const std::string& rule : placed.rules) options.insert(options.end(), {"--place", rule});
    std::vector<std::string> texts;
    for (const std::string& option : options) texts.push_back(toml_text(option));
    text +=
        fmt::format("[[configuration]]\nname = {}\noptions = [{}]\n", toml_text(placed.name), fmt::join(texts, ", "));
    if (!command.cpus.empty()) text += fmt::format("cpus = {}\n", toml_text(command.cpus));
    if (!command.mem_node.empty() && command.policy == "mem-node")
      text += fmt::format("mem_node = {}\n", toml_text(command.mem_node));
  }
  return text;
}

// CPU time is that of the command and of the descendants that it waited for.
std::optional<double> time_of(const RunRow& run, const std::string& figure) {
  double sum = 0;
  for (const char* const name : {"wall_s", "user_s", "sys_s"}) {
    if ((figure == "wall") != (name == std::string("wall_s"))) continue;
    const auto found = run.figures.find(name);
    if (found == run.figures.end()) return {};
    sum += found->second;
  }
  return sum;
}

using Names = std::set<std::string>;

// `checked`: gets the configuration of a used run whose pages are on the nodes of their rules, or whose rules name no node.
void add_run(const Sweep& sweep, const RunRow& run, const std::string& figure, Measured& measured, Names& checked) {
  const bool has_failed = run.state == RunState::kFailed || run.state == RunState::kTimedOut;
  if (has_failed && !run.interrupted) {
    measured.failed++;
    if (measured.failure.empty()) measured.failure = run.failure;
  }
  const auto time = time_of(run, figure);
  if (run.state != RunState::kDone || !time) return;
  const auto trace = model::read_run(sweep.folder + "/runs/" + run.planned.folder);
  const Verified pages = trace ? verified(trace->placement) : Verified();
  if (pages.share && *pages.share < kVerified) {
    measured.thrown_out++;
    return;
  }
  const std::string& name = sweep.configurations[run.planned.configuration].name;
  if (pages.is_asked && !pages.share) {
    measured.unverified++;
  } else {
    checked.insert(name);
  }
  measured.time_s[name].push_back({run.planned.block, run.planned.position, *time});
}

Measured measured_by(const Sweep& sweep, const std::string& figure) {
  Measured measured;
  Names checked;
  for (const RunRow& run : sweep.runs) add_run(sweep, run, figure, measured, checked);
  for (const auto& [name, series] : measured.time_s) {
    if (!checked.contains(name)) measured.only_unverified.insert(name);
  }
  return measured;
}

// Changes to the folder where the command ran when it was recorded, until this object is gone.
class InFolder {
 public:
  static Result<InFolder> enter(const std::string& folder) {
    std::error_code error;
    InFolder result;
    result.before_ = fs::current_path(error);
    if (!folder.empty() && ::chdir(folder.c_str()) != 0)
      return fail_errno(fmt::format("enter {}, where the command ran when it was recorded", folder), errno);
    return result;
  }
  InFolder(InFolder&& other) noexcept : before_(std::move(other.before_)) { other.before_.clear(); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;
  InFolder& operator=(InFolder&&) = delete;
  ~InFolder() {
    std::error_code ignored;
    if (!before_.empty()) fs::current_path(before_, ignored);
  }

 private:
  InFolder() = default;
  fs::path before_;
};

// Fails if the folder holds runs of another command or of other placements.
Status check_plan(const SweepRequest& request) {
  if (!request.resume) return {};
  const auto store = Store::open(request.folder);
  if (!store) return tl::make_unexpected(store.error());
  if (store->plan().hash == request.plan->hash) return {};
  std::string changed = changed_runs(store->plan(), *request.plan);
  if (changed.empty() && store->plan().configurations.size() != request.plan->configurations.size())
    changed = "with other placements";  // whose runs would be made long after the others
  if (changed.empty()) return {};
  return fail(fmt::format("{} has runs of another experiment ({}); name a new folder", request.folder, changed));
}

// Whether a rule is for blocks of call sites.
bool names_sites(const model::Placement::Rule& rule) { return (" " + rule.text).find(" site ") != std::string::npos; }

// Sums over the processes of a run, of one rule. right: of the sampled bytes, those on its nodes.
struct RuleBytes {
  int64_t matches = 0, bytes = 0, fallback_bytes = 0, sampled = 0, right = 0;
};

RuleBytes bytes_of(const std::vector<model::Placement::Process>& processes, size_t rule,
                   const std::vector<int64_t>& nodes) {
  RuleBytes sum;
  for (const model::Placement::Process& process : processes) {
    if (rule < process.rules.size()) {
      sum.matches += process.rules[rule].matches;
      sum.bytes += process.rules[rule].bytes;
      sum.fallback_bytes += process.rules[rule].fallback_bytes;
    }
    for (const model::Placement::Pages& pages : process.pages) {
      if (pages.rule != static_cast<int64_t>(rule)) continue;
      sum.sampled += pages.bytes;
      if (std::find(nodes.begin(), nodes.end(), pages.node) != nodes.end()) sum.right += pages.bytes;
    }
  }
  return sum;
}

}  // namespace

Verified verified(const model::Placement& placement) {
  Verified result;
  double least_placed = 1;
  bool is_site_unknown = false;  // no page of a rule for call sites was sampled
  const auto processes = placement.processes.value_or(std::vector<model::Placement::Process>());
  for (size_t number = 0; number < placement.rules.size(); number++) {
    const model::Placement::Rule& rule = placement.rules[number];
    const bool is_for_sites = names_sites(rule);
    const RuleBytes of = bytes_of(processes, number, rule.nodes);
    if (is_for_sites && of.matches == 0) least_placed = 0;
    if (of.bytes > 0)
      least_placed = std::min(least_placed, 1 - static_cast<double>(of.fallback_bytes) / static_cast<double>(of.bytes));
    if (rule.nodes.empty()) continue;
    result.is_asked = true;
    is_site_unknown = is_site_unknown || (is_for_sites && of.sampled == 0);
    // Each rule by itself: the few blocks of one do not count less beside the many of another.
    if (of.sampled > 0)
      result.share =
          std::min(result.share.value_or(1), static_cast<double>(of.right) / static_cast<double>(of.sampled));
  }
  if (is_site_unknown && result.share && *result.share >= kVerified) result.share.reset();
  if (least_placed < result.share.value_or(kVerified)) result.share = least_placed;
  return result;
}

Result<Measured> make_runs(const Experiment& experiment) {
  const auto inside = InFolder::enter(util::unescaped_utf8(experiment.command.folder));
  if (!inside) return tl::make_unexpected(inside.error());
  const auto text = plan_text(experiment);
  if (!text) return tl::make_unexpected(text.error());
  auto plan = parse_plan(*text, "plan of mlrun advise");
  if (!plan) return tl::make_unexpected(plan.error());
  const std::string& input = experiment.command.input;
  if (!input.empty() && !has_input_file(experiment.command))
    util::say(
        fmt::format("the standard input of the recorded command, {}, cannot be read again: these runs read nothing",
                    util::printable(input)));
  SweepRequest request;
  request.plan = *std::move(plan);
  request.folder = experiment.folder;
  request.quiet = experiment.quiet;
  request.resume = session::is_sweep(experiment.folder);
  request.extend = request.resume;
  if (const Status same = check_plan(request); !same) return tl::make_unexpected(same.error());
  const auto status = execute(request);
  constexpr int kSignalled = 128;  // and the signal's number
  if (!status && status.error().exit_code > kSignalled) {
    return tl::make_unexpected(
        Error{fmt::format("stopped; what was measured is in {}; go on with: {}", experiment.folder, experiment.again),
              status.error().exit_code});
  }
  if (!status) return tl::make_unexpected(status.error());
  const auto sweep = open_sweep(experiment.folder);
  if (!sweep) return tl::make_unexpected(sweep.error());
  return measured_by(*sweep, experiment.figure);
}

Status check_runs(const Experiment& experiment, const std::vector<const char*>& needed, const Measured& measured) {
  for (const char* const name : needed) {
    if (const auto found = measured.time_s.find(name); found != measured.time_s.end() && !found->second.empty())
      continue;
    std::string why;
    if (measured.failed > 0) why += fmt::format("{} runs failed ({})", measured.failed, measured.failure);
    if (measured.thrown_out > 0)
      why += fmt::format(
          "{}{} runs had less than 95 % of the pages, or of the allocated bytes, of a rule where it wants them, or a "
          "rule "
          "for call sites without a block",
          why.empty() ? "" : ", ", measured.thrown_out);
    return fail(fmt::format("no run of '{}' can be used: {}; their output is below {}/runs", name,
                            why.empty() ? "none was made" : why, experiment.folder));
  }
  return {};
}

}  // namespace mlrun::sweep
