// SPDX-License-Identifier: Apache-2.0
// Checks that need the whole plan, or this machine.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "runner/launch/program_file.h"
#include "runner/sweep/plan/configuration_check.h"
#include "runner/sweep/plan/draft.h"
#include "runner/sweep/plan/figure_names.h"
#include "runner/sweep/plan/named_values.h"
#include "runner/sweep/plan/plan_hash.h"
#include "runner/sweep/plan/rule_files.h"
#include "runner/sweep/plan/workload_list.h"
#include "runner/util/similar.h"
#include "runner/util/unique_fd.h"

namespace mlrun::sweep {

namespace {

constexpr int64_t kRunsMax = 200'000;

bool contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

void check_parameters(Draft& draft) {
  for (const ParameterDraft& parameter : draft.parameters) {
    if (!is_value_name(parameter.name)) {
      draft.faults.add(parameter.place, "this cannot be a {name}: use letters, digits, _ and -, a letter first");
    }
    std::set<std::string> seen;
    for (const std::string& value : parameter.values) {
      if (!seen.insert(value).second)
        draft.faults.add(parameter.place, fmt::format("the value {} is given twice: leave one out", value));
    }
  }
}

// A hint at the figure that was probably meant: wall_s for "wall", or the most similar name. If there is none, a list of all figures.
std::string meant_figure(const std::string& figure, const std::vector<std::string>& known) {
  const auto longer =
      std::find_if(known.begin(), known.end(), [&](const std::string& name) { return name.starts_with(figure + "_"); });
  const std::string meant = longer != known.end() ? *longer : util::most_similar(figure, known);
  if (!meant.empty()) return "did you mean " + meant + "?";
  return fmt::format("there are {}", fmt::join(known, ", "));
}

void check_question(Draft& draft) {
  const bool all_dry = std::all_of(draft.configurations.begin(), draft.configurations.end(),
                                   [](const ConfigurationDraft& one) { return one.values.is_dry; });
  std::vector<std::string> known = figures_of_every_run();
  known.insert(known.end(), figures_of_traces().begin(), figures_of_traces().end());
  std::set<std::string> seen;
  const Place& place = draft.places["question"];
  for (const std::string& figure : draft.plan.question) {
    if (!contains(known, figure)) {
      draft.faults.add(place, figure + " is no figure; " + meant_figure(figure, known));
    } else if (!seen.insert(figure).second) {
      draft.faults.add(place, figure + " is given twice: leave one out");
    } else if (all_dry && contains(figures_of_traces(), figure)) {
      draft.faults.add(place, figure + " comes from a trace, and all configurations are dry: leave it out");
    }
  }
}

// With a stop rule and `at_most`, `repetitions` blocks are made in any case, and at most `at_most`. Without `at_most`, at most
// `repetitions` are made.
void check_stop(Draft& draft) {
  Plan& plan = draft.plan;
  StopRule& stop = plan.stop;
  const Place& place = draft.places["stop"];
  if (stop.within == 0) {
    stop = StopRule();
    return;
  }
  if (plan.order == Order::kSequence) {
    draft.faults.add(place, "a stop rule needs blocks: remove order = \"sequence\" or the table [stop]");
  }
  if (stop.at_most == 0) {
    stop.at_most = plan.repetitions;
  } else {
    stop.at_least = std::max(stop.at_least, plan.repetitions);
  }
  stop.at_least = std::max(stop.at_least, kFewestForStop);
  if (stop.at_most < stop.at_least) {
    draft.faults.add(place,
                     fmt::format("at_most = {} is less than the {} repetitions that are made in any case; set at_most "
                                 "to more",
                                 stop.at_most, stop.at_least));
  }
  plan.repetitions = stop.at_most;
}

void check_input(Draft& draft) {
  std::string& input = draft.plan.input;
  if (input.empty()) return;
  const util::UniqueFd file(::open(input.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  const Place& place = draft.places["input"];
  if (file.get() < 0) {
    draft.faults.add(place, fmt::format("cannot read {}: {}", input, std::strerror(errno)));
  } else if (::fstat(file.get(), &status) == 0 && !S_ISREG(status.st_mode) && input != "/dev/null") {
    draft.faults.add(place, input + " is not a regular file: name one that each run can read from its start");
  }
  std::error_code ignored;
  input = std::filesystem::absolute(input, ignored).lexically_normal().string();
}

// Returns why the program cannot be executed; empty: it can be. `path`: the PATH to search; nullptr: that of this process.
std::string program_fault(const std::string& program, const char* path) {
  if (program.empty()) return "the program's name is empty";
  if (launch::find_program(program, path).empty()) {
    const bool is_path = program.find('/') != std::string::npos;
    if (is_path && ::access(program.c_str(), F_OK) == 0)
      return fmt::format("{} is not executable; use chmod +x", program);
    if (is_path) return fmt::format("there is no program {}", program);
    if (program.find('=') != std::string::npos) {
      return fmt::format("there is no program {}; variables go into the configuration's environment", program);
    }
    return fmt::format("there is no program {} in PATH", program);
  }
  const std::string interpreter = launch::missing_interpreter(program, path);
  return interpreter.empty() ? "" : fmt::format("the interpreter of {}, {}, does not exist", program, interpreter);
}

void check_programs(Draft& draft) {
  for (const auto& [key, command] : {std::pair("before", &draft.plan.before), std::pair("after", &draft.plan.after)}) {
    if (command->empty()) continue;
    if (const std::string fault = program_fault(command->front(), nullptr); !fault.empty()) {
      draft.faults.add(draft.places[key], fault);
    }
  }
  std::set<std::pair<std::string, std::string>> seen;  // text, what is wrong
  for (const ConfigurationDraft& configuration : draft.configurations) {
    const auto path = configuration.values.environment.find("PATH");
    const bool has_path = path != configuration.values.environment.end();
    for (const Workload& workload : draft.plan.workloads) {
      const Words command = command_of(draft.plan, configuration.values, workload);
      if (command.empty()) continue;
      const std::string fault = program_fault(command.front(), has_path ? path->second.c_str() : nullptr);
      if (fault.empty() || !seen.emplace(workload.text, fault).second) continue;
      const auto origin = std::find_if(draft.workloads.begin(), draft.workloads.end(),
                                       [&](const WorkloadDraft& one) { return one.text == workload.text; });
      draft.faults.add(origin->place, fault);
    }
  }
}

void check_number_of_runs(Draft& draft) {
  const auto cells = static_cast<int64_t>(planned_runs(draft.plan, 1).size());
  const int64_t runs = cells * (int64_t{draft.plan.repetitions} + draft.plan.warm_up);
  if (runs <= kRunsMax) return;
  draft.faults.add(draft.places["repetitions"],
                   fmt::format("the plan has {} runs, more than the {} that a sweep can have", runs, kRunsMax));
}

void check_values(Draft& draft) {
  check_configurations(draft);
  check_parameters(draft);
  check_question(draft);
  check_stop(draft);
  check_input(draft);
}

}  // namespace

Result<Plan> finish(Draft draft) {
  if (draft.faults.any()) return tl::make_unexpected(draft.faults.error());
  for (const ConfigurationDraft& one : draft.configurations) draft.plan.configurations.push_back(one.values);
  // After a fault the later checks are skipped: they would only report its consequences.
  for (const auto check : {check_values, list_workloads, check_programs, check_number_of_runs}) {
    check(draft);
    if (draft.faults.any()) return tl::make_unexpected(draft.faults.error());
  }
  if (!draft.places.contains("seed")) draft.plan.seed = seed_of(draft.plan);
  for (Configuration& one : draft.plan.configurations) {
    auto rules = one.is_dry ? Result<std::string>() : hash_of_rule_files(one.options);
    if (!rules) return tl::make_unexpected(rules.error());
    one.rules = *std::move(rules);
  }
  draft.plan.hash = hash_of(draft.plan);
  std::error_code ignored;
  draft.plan.directory = std::filesystem::current_path(ignored).string();
  return std::move(draft.plan);
}

}  // namespace mlrun::sweep
