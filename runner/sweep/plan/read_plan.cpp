// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/read_plan.h"

#include <fmt/format.h>

#include "runner/launch/placement.h"
#include "runner/sweep/plan/draft.h"
#include "runner/sweep/plan/modes_draft.h"
#include "runner/sweep/plan/named_values.h"
#include "runner/sweep/plan/shell_words.h"
#include "runner/sweep/plan/toml_draft.h"
#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

Status read_modes_file(const std::string& file, Draft& draft) {
  const auto text = util::read_file(file, util::kWrittenBytesMax);
  if (!text) return tl::make_unexpected(text.error());
  read_modes(*text, file, ModesVariables::of_environment(), draft);
  if (draft.faults.any()) return tl::make_unexpected(draft.faults.error());
  return {};
}

// The mode that the older script came with was "1loc_50 0 1 1 0 5000": memory and CPUs of node 1, recorded, 5,000 samples a second. Node
// 1 is used if the machine has it. Samples cost time and need rights, so this mode has none, and a modes file can ask for them; the name
// says so by 00, as the script's other names do.
void add_default_mode(Draft& draft) {
  const bool has_node = launch::find_cpus_of_nodes("1") && launch::find_memory_nodes("1");
  const std::string node = has_node ? "1" : "-";
  read_modes(fmt::format("1loc_00 0 {0} {0} 0 0\n", node), "the default mode", {}, draft);
}

void read_workload_words(const std::vector<std::string>& workloads, Draft& draft) {
  int number = 0;
  for (const std::string& text : workloads) {
    const Place place{"", 0, fmt::format("workload {}", ++number)};
    if (!util::is_utf8(text)) {
      draft.faults.add(place, "the command is not valid UTF-8, which a plan has to be");
      continue;
    }
    std::string escaped = with_literal_braces(text);
    auto words = shell_words(escaped);
    if (!words || words->empty()) {
      draft.faults.add(place, words ? "the word is empty; write a command" : words.error().text);
      continue;
    }
    draft.workloads.push_back({std::move(escaped), *std::move(words), place});
  }
}

}  // namespace

Result<Plan> read_plan(const std::string& file, const std::string& modes, RunsOn runs_on) {
  const auto text = util::read_file(file, util::kWrittenBytesMax);
  if (!text) return tl::make_unexpected(text.error());
  Draft draft;
  draft.runs_on = runs_on;
  if (!modes.empty()) {
    if (const Status read = read_modes_file(modes, draft); !read) return tl::make_unexpected(read.error());
  }
  read_toml(*text, file, draft);
  return finish(std::move(draft));
}

Result<Plan> parse_plan(const std::string& text, const std::string& file, RunsOn runs_on) {
  Draft draft;
  draft.runs_on = runs_on;
  read_toml(text, file, draft);
  return finish(std::move(draft));
}

Result<Plan> plan_of_runs(const std::string& modes, const std::string& repetitions,
                          const std::vector<std::string>& workloads, RunsOn runs_on) {
  Draft draft;
  draft.runs_on = runs_on;
  if (modes.empty()) {
    add_default_mode(draft);
  } else if (const Status read = read_modes_file(modes, draft); !read) {
    return tl::make_unexpected(read.error());
  }
  draft.plan.repetitions = util::whole_number<int32_t>(repetitions).value_or(0);
  if (draft.plan.repetitions < 1 || draft.plan.repetitions > kRepetitionsMax) {
    draft.faults.add({"", 0, "N"},
                     fmt::format("'{}' is not a number of repetitions from 1 to {}", repetitions, kRepetitionsMax));
  }
  read_workload_words(workloads, draft);
  draft.plan.order = Order::kSequence;
  draft.plan.after = {"sync"};
  draft.plan.text = toml_text(draft);
  return finish(std::move(draft));
}

}  // namespace mlrun::sweep
